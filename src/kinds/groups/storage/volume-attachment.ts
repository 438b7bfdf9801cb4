import { s } from '../../../schema/builders.ts';
import { type FieldError, forbidden, invalid, required, tooLong } from '../../../schema/field-error.ts';
import { dnsSubdomain } from '../../../schema/names.ts';
import type { ObjectType } from '../../../schema/schema.ts';
import { age, name } from '../../columns/column.ts';
import { defineKind, type ObjectOf } from '../../kind.ts';
import { csiDriverName } from '../../shapes/meta/csi-driver-name.ts';
import { InlineVolumeSpec } from './inline-volume-spec.ts';
import { metadataSize } from './parameters.ts';

const MAX_MESSAGE_BYTES = 1024;
/** The limit that the error names; Kubernetes reports that of attachmentMetadata here. */
const REPORTED_LIMIT_BYTES = 256 * 1024;

const source = {
  persistentVolumeName: s.string({
    description: 'Name of the PersistentVolume to attach. Cannot be combined with inlineVolumeSpec.',
  }),
  inlineVolumeSpec: s.use(InlineVolumeSpec, {
    description: 'Volume that a pod defines inline. Cannot be combined with persistentVolumeName.',
  }),
};

const spec = {
  attacher: s.string({
    zero: true,
    required: true,
    description: 'Name of the CSI driver that attaches the volume. Required.',
    rules: [csiDriverName],
  }),
  source: s.object('VolumeAttachmentSource', source, {
    zero: true,
    description: 'The volume to attach. Exactly one of the fields must be set.',
    rules: [oneSource],
  }),
  nodeName: s.string({ zero: true, description: 'Name of the node to attach the volume to. Required.' }),
};

const VolumeError = s.object(
  'VolumeError',
  {
    time: s.time({ description: 'When the error occurred.' }),
    message: s.string({
      omitZero: true,
      rules: [
        (text: string) => (Buffer.byteLength(text) > MAX_MESSAGE_BYTES ? tooLong('', REPORTED_LIMIT_BYTES) : undefined),
      ],
      description:
        'Details about the error, at most 1024 bytes. It must not contain secrets, because it may be logged.',
    }),
    errorCode: s.int32({
      min: 0,
      max: 2 ** 31 - 1,
      description: 'gRPC status code the driver returned, where it returned one.',
    }),
  },
  { description: 'An error that occurred while a volume was attached or detached.' },
);

const VolumeAttachmentStatus = s.object('VolumeAttachmentStatus', {
  attached: s.boolean({ zero: true, description: 'Whether the volume is attached. Set by the attacher.' }),
  attachmentMetadata: s.map(s.string(), {
    description:
      'Information the driver returned when it attached the volume, to be passed to it when the volume is mounted. At most 256 KiB.',
    rules: [metadataSize],
  }),
  attachError: s.use(VolumeError, { description: 'The last error when attaching the volume.' }),
  detachError: s.use(VolumeError, { description: 'The last error when detaching the volume.' }),
});

/** Attaches a volume to a node. */
export const VolumeAttachment = defineKind({
  group: 'storage.k8s.io',
  kind: 'VolumeAttachment',
  plural: 'volumeattachments',
  scope: 'Cluster',
  description:
    'Requests that a volume be attached to a node, and reports the result. Deleting it requests that the volume be detached. Usually managed by a controller and the CSI driver.',
  versions: { 'storage.k8s.io/v1': {} },
  fields: {
    spec: s.object('VolumeAttachmentSpec', spec, {
      zero: true,
      immutable: true,
      description: 'The volume, the node and the driver. Cannot be changed.',
      rules: [nodeName],
    }),
    status: s.use(VolumeAttachmentStatus, {
      default: {},
      description: 'State of the attachment, written by the attacher.',
    }),
  },
  requiresVersion: true,
  resetFields: { status: ['metadata'] },
  subresources: { status: true },
  initialStatus: () => ({ attached: false }),
  columns: ({ text, flag }) => [
    name,
    { ...text('Attacher', 'CSI driver that attaches the volume.', ({ spec }) => spec?.attacher ?? ''), format: 'name' },
    text('PV', 'The PersistentVolume.', ({ spec }) => spec?.source?.persistentVolumeName ?? ''),
    text('Node', 'The node.', ({ spec }) => spec?.nodeName ?? ''),
    flag('Attached', 'Whether the volume is attached.', ({ status }) => status?.attached ?? false),
    age,
  ],
});
export type VolumeAttachment = ObjectOf<typeof VolumeAttachment>;

function oneSource({ persistentVolumeName: name, inlineVolumeSpec: inline }: ObjectType<typeof source>): FieldError[] {
  const both = 'must specify exactly one of inlineVolumeSpec and persistentVolumeName';
  if (name === undefined) return inline ? [] : [required('', both)];
  const found = inline ? [forbidden('', both)] : [];
  if (!name && !inline) found.push(required('persistentVolumeName', 'must specify non empty persistentVolumeName'));
  return [...found, ...dnsSubdomain(name).map((each) => invalid('persistentVolumeName', name, each))];
}

function nodeName({ nodeName }: ObjectType<typeof spec>): FieldError[] {
  return dnsSubdomain(nodeName).map((each) => invalid('nodeName', nodeName, each));
}
