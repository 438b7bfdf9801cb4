import { deepEqual } from '../../../../base/json/tree.ts';
import { compareQuantities, parseQuantity } from '../../../../base/quantity.ts';
import { s } from '../../../../schema/builders.ts';
import { type FieldError, forbidden, invalid, notSupported, under } from '../../../../schema/field-error.ts';
import type { ObjectType, RuleContext } from '../../../../schema/schema.ts';
import { age, name, UNSET, wide } from '../../../columns/column.ts';
import { accessModesText, phaseText, storageClassText, storageText } from '../../../columns/volume.ts';
import { defineKind, type KubeObject } from '../../../kind.ts';
import { claimSpec } from '../../../shapes/volume/claim-rules.ts';
import { PersistentVolumeClaimSpec } from '../../../shapes/volume/persistent-volume-claim-spec.ts';
import { StatusAmounts } from '../../../shapes/volume/storage.ts';
import { conditionFields } from '../../../shapes/workload/workload-status.ts';
import { CLASS_ANNOTATION } from '../../../volumes/binding.ts';
import { claimSpecWarnings } from '../../../warnings/fractions.ts';
import { treeDiff } from '../pod/update/tree-diff.ts';

const resizeStates = [
  'ControllerResizeInProgress',
  'ControllerResizeInfeasible',
  'NodeResizeInProgress',
  'NodeResizeInfeasible',
  'NodeResizePending',
];

const PersistentVolumeClaimStatus = s.object('PersistentVolumeClaimStatus', 'Observed state of a claim. Read-only.', {
  phase: s.string('Pending until a volume is bound, then Bound; Lost if the volume no longer exists.', {
    default: 'Pending',
  }),
  accessModes: s.list(s.string(), 'Access modes of the bound volume.'),
  capacity: s.use(StatusAmounts, 'Actual size of the bound volume, under the key storage.'),
  conditions: s.listMap(
    s.object('PersistentVolumeClaimCondition', 'One aspect of the observed state of a claim.', {
      ...conditionFields,
      lastProbeTime: s.time('Time at which the condition was last checked.'),
    }),
    'Conditions of the claim, such as Resizing while its volume is being expanded.',
    { keys: ['type'] },
  ),
  allocatedResources: s.use(
    StatusAmounts,
    'Size that was allocated for the volume. Larger than capacity while an expansion is in progress.',
  ),
  allocatedResourceStatuses: s.map(
    s.string(),
    'State of the expansion of each resource, such as ControllerResizeInProgress or NodeResizePending. ' +
      'Absent if none is in progress.',
    { rules: [resizeWords] },
  ),
  currentVolumeAttributesClassName: s.string('VolumeAttributesClass whose settings are in effect.'),
  modifyVolumeStatus: s.object('ModifyVolumeStatus', 'State of a change of the VolumeAttributesClass.', {
    targetVolumeAttributesClassName: s.string('VolumeAttributesClass that the volume is being changed to.', {
      omitZero: true,
    }),
    status: s.string(
      'Pending until the change starts, InProgress while it runs, Infeasible if the driver rejected it.',
      { zero: true },
    ),
  }),
});

const fields = {
  spec: s.use(
    PersistentVolumeClaimSpec,
    'Storage that the claim requests. Only the size, the volume attributes class and, once, the volume name ' +
      'can be changed.',
    { default: {} },
  ),
  status: s.use(PersistentVolumeClaimStatus, { default: {} }),
};

export type PersistentVolumeClaim = KubeObject & ObjectType<typeof fields>;
type Spec = PersistentVolumeClaim['spec'];

/** A request for storage. */
export const PersistentVolumeClaim = defineKind({
  kind: 'PersistentVolumeClaim',
  short: ['pvc'],
  scope: 'Namespaced',
  description: 'Request for storage. Once bound to a volume, pods use the volume through the name of the claim.',
  versions: { v1: {} },
  fields,
  subresources: { status: true },
  initialStatus: () => ({ phase: 'Pending' }),
  onCreate: ({ spec }: PersistentVolumeClaim) => linkSources(spec, undefined),
  onUpdate: ({ spec }: PersistentVolumeClaim, old: PersistentVolumeClaim) => linkSources(spec, old.spec),
  rules: [({ spec }: PersistentVolumeClaim) => under('spec', claimSpec(spec)), changes, classChange],
  warnings: claimWarnings,
  columns: ({ text }) => [
    name,
    text('Status', 'Pending, Bound or Lost.', phaseText),
    text('Volume', 'Bound volume.', ({ spec }) => spec?.volumeName ?? ''),
    text('Capacity', 'Size of the bound volume.', ({ spec, status }) => {
      return spec?.volumeName ? storageText(status?.capacity) : '';
    }),
    text('Access Modes', 'Access modes of the bound volume.', ({ spec, status }) => {
      return spec?.volumeName ? accessModesText(status?.accessModes) : '';
    }),
    text('StorageClass', 'Requested storage class.', storageClassText),
    text(
      'VolumeAttributesClass',
      'Requested volume attributes class.',
      ({ spec }) => spec?.volumeAttributesClassName ?? UNSET,
    ),
    age,
    wide(text('VolumeMode', 'Filesystem or Block.', ({ spec }) => spec?.volumeMode ?? UNSET)),
  ],
});

/**
 * Keeps `dataSource` and `dataSourceRef` in sync: whichever is given sets the other. A `dataSource` that is neither a claim
 * nor a snapshot is dropped, as in Kubernetes.
 */
function linkSources(spec: Spec, old: Spec | undefined): void {
  const inUse = old?.dataSource ?? old?.dataSourceRef;
  if (!inUse && !spec.dataSourceRef && spec.dataSource && !isClaimOrSnapshot(spec.dataSource)) delete spec.dataSource;
  if (spec.dataSource && !spec.dataSourceRef) spec.dataSourceRef = { ...spec.dataSource };
  else if (spec.dataSourceRef && !spec.dataSource && !spec.dataSourceRef.namespace) {
    const { namespace: _, ...local } = spec.dataSourceRef;
    spec.dataSource = local;
  }
}

function isClaimOrSnapshot({ apiGroup = '', kind }: NonNullable<Spec['dataSource']>): boolean {
  return apiGroup === ''
    ? kind === 'PersistentVolumeClaim'
    : kind === 'VolumeSnapshot' && apiGroup === 'snapshot.storage.k8s.io';
}

type ClaimContext = RuleContext<PersistentVolumeClaim, PersistentVolumeClaim>;

const FIXED =
  'spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims';

/** The spec is immutable, except that volume and class can be set once and a bound claim can be enlarged. */
function changes(claim: PersistentVolumeClaim, { oldRoot: old, subresource }: ClaimContext): FieldError[] {
  if (!old || subresource === 'status') return [];
  const errors: FieldError[] = [];
  const spec = withAllowedChanges(claim, old);
  if (!deepEqual(spec, old.spec)) errors.push(forbidden('spec', `${FIXED}\n${treeDiff(old.spec, spec)}`));
  const size = storage(claim.spec);
  if (compareQuantities(size, storage(old.spec)) < 0) {
    const held = parseQuantity(old.status.capacity?.storage ?? '0');
    if (compareQuantities(size, held) <= 0) {
      errors.push(forbidden('spec.resources.requests.storage', 'field can not be less than status.capacity'));
    }
  }
  if (claim.spec.volumeMode !== old.spec.volumeMode) {
    errors.push(invalid('spec.volumeMode', claim.spec.volumeMode, 'field is immutable'));
  }
  return errors;
}

const storage = (spec: Spec) => parseQuantity(spec.resources.requests?.storage ?? '0');

/** The new spec with all allowed changes reverted; equal to the old one if there are no others. */
function withAllowedChanges({ spec, status }: PersistentVolumeClaim, old: PersistentVolumeClaim): Spec {
  const back: Spec = { ...spec };
  if (!old.spec.volumeName) back.volumeName = old.spec.volumeName;
  const annotated = old.metadata.annotations?.[CLASS_ANNOTATION];
  const firstClass = old.spec.storageClassName === undefined && (!annotated || annotated === spec.storageClassName);
  if (firstClass) back.storageClassName = undefined;
  if (status.phase !== 'Bound') return back;
  const { storage: before } = old.spec.resources.requests ?? {};
  if (spec.resources.requests && before !== undefined) {
    back.resources = { ...spec.resources, requests: { ...spec.resources.requests, storage: before } };
  }
  back.volumeAttributesClassName = old.spec.volumeAttributesClassName;
  return back;
}

/** The volume attributes class cannot be removed once it is in effect. */
function classChange({ spec }: PersistentVolumeClaim, { oldRoot: old }: ClaimContext): FieldError[] {
  const field = 'spec.volumeAttributesClassName';
  if (old?.status.currentVolumeAttributesClassName === undefined) return [];
  if (spec.volumeAttributesClassName === old.spec.volumeAttributesClassName || spec.volumeAttributesClassName)
    return [];
  const word = spec.volumeAttributesClassName === undefined ? 'nil' : 'empty string';
  const detail = `update to ${word} is forbidden when status.currentVolumeAttributesClassName is not nil`;
  return [forbidden(field, detail)];
}

function resizeWords(states: Readonly<Record<string, string>>): FieldError[] {
  return Object.entries(states)
    .filter(([, state]) => !resizeStates.includes(state))
    .map(([resource]) => notSupported('', resource, resizeStates));
}

function claimWarnings({ metadata: { annotations }, spec }: PersistentVolumeClaim): string[] {
  const found = claimSpecWarnings('spec', spec);
  if (annotations?.[CLASS_ANNOTATION] === undefined) return found;
  const words = 'deprecated since v1.8; use "storageClassName" attribute instead';
  return [`metadata.annotations[${CLASS_ANNOTATION}]: ${words}`, ...found];
}
