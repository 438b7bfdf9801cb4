/**
 * The volume of a VolumeAttachment that a pod defines inline, in the form of a PersistentVolume's spec. Only CSI volumes
 * are allowed, without fields that refer to a claim.
 */
import { s } from '../../../schema/builders.ts';
import { type FieldError, forbidden, required } from '../../../schema/field-error.ts';
import type { ObjectType } from '../../../schema/schema.ts';
import { ObjectReference } from '../../shapes/meta/references.ts';
import { NodeSelector } from '../../shapes/pod/scheduling/node-selector.ts';
import { persistentVolumeSources } from '../../shapes/volume/persistent-volume-sources.ts';
import { accessModes } from '../../shapes/volume/storage.ts';

const fields = {
  capacity: s.map(s.quantity({ thousandths: true }), 'Must not be set for inline volumes.'),
  ...persistentVolumeSources,
  accessModes: s.list(
    s.string(),
    'How the volume may be mounted: ReadWriteOnce, ReadOnlyMany, ReadWriteMany or ReadWriteOncePod. Required.',
    { required: true, rules: [accessModes] },
  ),
  claimRef: s.use(ObjectReference, 'Must not be set for inline volumes.', { atomic: false }),
  persistentVolumeReclaimPolicy: s.string(
    'What happens to the volume when it is released. Only Retain is allowed for inline volumes.',
    { omitZero: true },
  ),
  storageClassName: s.string('Must not be set for inline volumes.', { omitZero: true }),
  mountOptions: s.list(
    s.string(),
    'Options for the mount command, such as ro or soft. Not checked: an invalid one makes the mount fail.',
  ),
  volumeMode: s.string('How the volume is used. Only Filesystem, the default, is allowed for inline volumes.'),
  nodeAffinity: s.object('VolumeNodeAffinity', 'Must not be set for inline volumes.', {
    required: s.use(NodeSelector, 'The nodes that can access the volume.'),
  }),
  volumeAttributesClassName: s.string('Name of the VolumeAttributesClass of the volume.'),
};

export const InlineVolumeSpec = s.object(
  'PersistentVolumeSpec',
  "A volume that is defined inline in a pod, in the form of a PersistentVolume's spec. Only CSI volumes are allowed.",
  fields,
  { rules: [inlineVolumeRules] },
);

type Spec = ObjectType<typeof fields>;
type Source = keyof typeof persistentVolumeSources;
const sourceNames = Object.keys(persistentVolumeSources) as Source[];

const CONTEXT = 'in the context of inline volumes';
const notAllowed = (field: string) => forbidden(field, `may not be specified ${CONTEXT}`);

function inlineVolumeRules(spec: Spec): FieldError[] {
  const found: FieldError[] = [];
  if (spec.claimRef) found.push(notAllowed('claimRef'));
  if (spec.capacity) found.push(notAllowed('capacity'));
  if (!spec.csi) found.push(required('csi', `has to be specified ${CONTEXT}`));
  const { persistentVolumeReclaimPolicy: policy = 'Retain', volumeMode = 'Filesystem' } = spec;
  if (policy !== 'Retain') found.push(forbidden('persistentVolumeReclaimPolicy', `may only be Retain ${CONTEXT}`));
  if (spec.nodeAffinity) found.push(notAllowed('nodeAffinity'));
  const [first, ...more] = sourceNames.filter((name) => spec[name] !== undefined);
  for (const name of more) found.push(forbidden(name, 'may not specify more than 1 volume type'));
  if (!first) found.push(required('', 'must specify a volume type'));
  if (spec.storageClassName) found.push(notAllowed('storageClassName'));
  if (volumeMode !== 'Filesystem') {
    found.push(forbidden('volumeMode', `may not specify volumeMode other than Filesystem ${CONTEXT}`));
  }
  return found;
}
