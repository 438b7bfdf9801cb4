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
  persistentVolumeName: s.string('Name of the PersistentVolume to attach. Cannot be combined with inlineVolumeSpec.'),
  inlineVolumeSpec: s.use(
    InlineVolumeSpec,
    'Volume that a pod defines inline. Cannot be combined with persistentVolumeName.',
  ),
};

const spec = {
  attacher: s.string('Name of the CSI driver that attaches the volume. Required.', {
    zero: true,
    required: true,
    rules: [csiDriverName],
  }),
  source: s.object('VolumeAttachmentSource', 'The volume to attach. Exactly one of the fields must be set.', source, {
    zero: true,
    rules: [oneSource],
  }),
  nodeName: s.string('Name of the node to attach the volume to. Required.', { zero: true }),
};

const VolumeError = s.object('VolumeError', 'An error that occurred while a volume was attached or detached.', {
  time: s.time('When the error occurred.'),
  message: s.string(
    'Details about the error, at most 1024 bytes. It must not contain secrets, because it may be logged.',
    {
      omitZero: true,
      rules: [
        (text: string) => (Buffer.byteLength(text) > MAX_MESSAGE_BYTES ? tooLong('', REPORTED_LIMIT_BYTES) : undefined),
      ],
    },
  ),
  errorCode: s.int32('gRPC status code the driver returned, where it returned one.', { min: 0, max: 2 ** 31 - 1 }),
});

const VolumeAttachmentStatus = s.object('VolumeAttachmentStatus', {
  attached: s.boolean('Whether the volume is attached. Set by the attacher.', { zero: true }),
  attachmentMetadata: s.map(
    s.string(),
    'Information the driver returned when it attached the volume, to be passed to it when the volume is mounted. At most 256 KiB.',
    { rules: [metadataSize] },
  ),
  attachError: s.use(VolumeError, 'The last error when attaching the volume.'),
  detachError: s.use(VolumeError, 'The last error when detaching the volume.'),
});

/** Attaches a volume to a node. */
export const VolumeAttachment = defineKind({
  kind: 'VolumeAttachment',
  scope: 'Cluster',
  description:
    'Requests that a volume be attached to a node, and reports the result. Deleting it requests that the volume be detached. Usually managed by a controller and the CSI driver.',
  versions: { 'storage.k8s.io/v1': {} },
  fields: {
    spec: s.object('VolumeAttachmentSpec', 'The volume, the node and the driver. Cannot be changed.', spec, {
      zero: true,
      immutable: true,
      rules: [nodeName],
    }),
    status: s.use(VolumeAttachmentStatus, 'State of the attachment, written by the attacher.', { default: {} }),
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
