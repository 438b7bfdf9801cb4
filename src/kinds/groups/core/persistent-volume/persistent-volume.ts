import { deepEqual } from '../../../../base/json/tree.ts';
import { s } from '../../../../schema/builders.ts';
import { type FieldError, forbidden, invalid, notSupported, required } from '../../../../schema/field-error.ts';
import { dnsSubdomain } from '../../../../schema/names.ts';
import { matches } from '../../../../schema/rules.ts';
import type { ObjectType, RuleContext, TypeOf } from '../../../../schema/schema.ts';
import { age, name, UNSET, wide } from '../../../columns/column.ts';
import { accessModesText, phaseText, storageClassText, storageText } from '../../../columns/volume.ts';
import { defineKind, type HookContext, type KubeObject } from '../../../kind.ts';
import { ObjectReference } from '../../../shapes/meta/references.ts';
import { NodeSelector } from '../../../shapes/pod/scheduling/node-selector.ts';
import { persistentVolumeSources } from '../../../shapes/volume/persistent-volume-sources.ts';
import { accessModes, positive, volumeModes } from '../../../shapes/volume/storage.ts';
import { persistentVolumeWarnings } from './persistent-volume-warnings.ts';

const PersistentVolumeSpec = s.object(
  'PersistentVolumeSpec',
  'Properties of a volume and where its storage is. Exactly one volume source must be set.',
  {
    capacity: s.map(
      s.quantity({ thousandths: true, rules: [positive] }),
      'Size of the volume, under the key storage. Required.',
      {
        required: true,
        pointer: true,
        rules: [
          (capacity: Record<string, string>) =>
            Object.keys(capacity).join() === 'storage' ? undefined : notSupported('', capacity, ['storage']),
        ],
      },
    ),
    ...persistentVolumeSources,
    accessModes: s.list(
      s.string(),
      'Access modes that the volume supports: ReadWriteOnce, ReadOnlyMany, ReadWriteMany or ReadWriteOncePod. ' +
        'Required.',
      { required: true, rules: [accessModes] },
    ),
    claimRef: s.use(ObjectReference, 'Claim that the volume is bound to or reserved for. Set on binding.', {
      atomic: false,
    }),
    persistentVolumeReclaimPolicy: s.enum(
      ['Delete', 'Recycle', 'Retain'],
      'What happens to the volume when its claim is deleted: Retain keeps it, Delete deletes it together with ' +
        'its storage, Recycle (deprecated) empties it. Defaults to Retain.',
      { default: 'Retain' },
    ),
    storageClassName: s.string(
      'StorageClass that the volume belongs to. Only claims of the same class are bound to it. Empty means no ' +
        'class.',
      { omitZero: true, rules: [matches(dnsSubdomain)] },
    ),
    mountOptions: s.list(
      s.string(),
      'Options for mounting the volume, such as ro or soft. They are not validated; a mount with an invalid ' +
        'option fails.',
    ),
    volumeMode: s.enum(
      volumeModes,
      'Filesystem for a mounted file system, Block for a raw block device. Defaults to Filesystem. Cannot be ' +
        'changed.',
      { default: 'Filesystem', immutable: true },
    ),
    nodeAffinity: s.object(
      'VolumeNodeAffinity',
      'Nodes from which the volume can be accessed.',
      {
        required: s.use(NodeSelector, 'Nodes that can access the volume. Pods that use it are scheduled to them.'),
      },
      { rules: [requiredTerms] },
    ),
    volumeAttributesClassName: s.string(
      'VolumeAttributesClass of the volume. Set from the claim; only CSI volumes can have one.',
    ),
  },
);
type PersistentVolumeSpec = TypeOf<typeof PersistentVolumeSpec>;

const fields = {
  spec: s.use(PersistentVolumeSpec, { default: {} }),
  status: s.struct('PersistentVolumeStatus', 'Observed state of a volume. Read-only.', {
    phase: s.string(
      'Pending, Available (not bound), Bound, Released (its claim was deleted) or Failed (it could not be ' +
        'reclaimed).',
      { default: 'Pending' },
    ),
    message: s.string('Why the volume is in this state, for people.', { omitZero: true }),
    reason: s.string('Why the volume is in this state, in one CamelCase word.', { omitZero: true }),
    lastPhaseTransitionTime: s.time('Time at which the phase last changed.'),
  }),
};

export type PersistentVolume = KubeObject & ObjectType<typeof fields>;

/** A piece of storage that outlives pods. */
export const PersistentVolume = defineKind({
  kind: 'PersistentVolume',
  short: ['pv'],
  scope: 'Cluster',
  description: 'A piece of storage in the cluster that outlives pods. Pods use it through a PersistentVolumeClaim.',
  versions: { v1: {} },
  fields,
  subresources: { status: true },
  onCreate: (volume: PersistentVolume, { now }: HookContext) => {
    volume.status = { phase: 'Pending', lastPhaseTransitionTime: now };
  },
  onStatusUpdate: notePhase,
  rules: [oneSource, fitsItsSource, attributesClass, fixedFields],
  warnings: persistentVolumeWarnings,
  columns: ({ text }) => [
    name,
    text('Capacity', 'Size of the volume.', ({ spec }) => storageText(spec?.capacity)),
    text('Access Modes', 'Access modes that the volume supports.', ({ spec }) => accessModesText(spec?.accessModes)),
    text(
      'Reclaim Policy',
      'What happens to the volume when its claim is deleted.',
      ({ spec }) => spec?.persistentVolumeReclaimPolicy ?? '',
    ),
    text('Status', 'Pending, Available, Bound, Released or Failed.', phaseText),
    text('Claim', 'Claim that the volume is bound to.', ({ spec }) => {
      const { namespace = '', name: claim = '' } = spec?.claimRef ?? {};
      return spec?.claimRef ? `${namespace}/${claim}` : '';
    }),
    text('StorageClass', 'Storage class of the volume.', storageClassText),
    text(
      'VolumeAttributesClass',
      'Volume attributes class of the volume.',
      ({ spec }) => spec?.volumeAttributesClassName ?? UNSET,
    ),
    text('Reason', 'Why the volume is in its current state.', ({ status }) => status?.reason ?? ''),
    age,
    wide(text('VolumeMode', 'Filesystem or Block.', ({ spec }) => spec?.volumeMode ?? UNSET)),
  ],
});

/** Sets the time of the last phase transition, unless the client did. */
function notePhase(volume: PersistentVolume, { status: old }: PersistentVolume, context?: HookContext): void {
  const { status } = volume;
  const told = status.lastPhaseTransitionTime;
  if (told !== undefined && told !== old.lastPhaseTransitionTime) return;
  const since = status.phase === old.phase ? old.lastPhaseTransitionTime : context?.now;
  if (since !== undefined && since !== told) volume.status = { ...status, lastPhaseTransitionTime: since };
}

type Source = keyof typeof persistentVolumeSources;
const sourceNames = Object.keys(persistentVolumeSources) as Source[];

function oneSource({ spec }: PersistentVolume): FieldError[] {
  const [first, ...more] = sourceNames.filter((name) => spec[name] !== undefined);
  if (!first) return [required('spec', 'must specify a volume type')];
  return more.map((name) => forbidden(`spec.${name}`, 'may not specify more than 1 volume type'));
}

function requiredTerms(affinity: { required?: unknown }): FieldError | undefined {
  return affinity.required ? undefined : required('required', 'must specify required node constraints');
}

function fitsItsSource({ spec }: PersistentVolume): FieldError[] {
  const errors: FieldError[] = [];
  if (spec.local && !spec.nodeAffinity) {
    errors.push(required('spec.nodeAffinity', 'Local volume requires node affinity'));
  }
  if (spec.hostPath && /^\/[/.]*$/.test(spec.hostPath.path) && spec.persistentVolumeReclaimPolicy === 'Recycle') {
    const detail = "may not be 'recycle' for a hostPath mount of '/'";
    errors.push(forbidden('spec.persistentVolumeReclaimPolicy', detail));
  }
  return errors;
}

type VolumeContext = RuleContext<PersistentVolume, PersistentVolume>;

function attributesClass({ spec }: PersistentVolume, { oldRoot }: VolumeContext): FieldError[] {
  const field = 'spec.volumeAttributesClassName';
  const name = spec.volumeAttributesClassName;
  if (name === undefined) {
    const had = oldRoot?.spec.volumeAttributesClassName !== undefined;
    return had ? [forbidden(field, 'update from non-nil value to nil is forbidden')] : [];
  }
  const errors = name
    ? dnsSubdomain(name).map((each) => invalid(field, name, each))
    : [required(field, 'an empty string is disallowed')];
  if (!spec.csi) errors.push(required('spec.csi', 'has to be specified when using volumeAttributesClassName'));
  return errors;
}

/** The source of a volume is immutable; a secret for expansion can still be added. */
function fixedFields({ spec }: PersistentVolume, { oldRoot }: VolumeContext): FieldError[] {
  const old: PersistentVolumeSpec | undefined = oldRoot?.spec;
  if (!old) return [];
  const errors: FieldError[] = [];
  const addsSecret = old.csi && !old.csi.controllerExpandSecretRef && spec.csi?.controllerExpandSecretRef;
  const now = addsSecret ? { ...spec, csi: { ...spec.csi, controllerExpandSecretRef: undefined } } : spec;
  if (sourceNames.some((name) => !deepEqual(now[name], old[name]))) {
    const detail = 'spec.persistentvolumesource is immutable after creation';
    errors.push(forbidden('spec.persistentvolumesource', detail));
  }
  if (old.nodeAffinity && !deepEqual(spec.nodeAffinity, old.nodeAffinity)) {
    errors.push(invalid('spec.nodeAffinity', spec.nodeAffinity, 'field is immutable'));
  }
  return errors;
}
