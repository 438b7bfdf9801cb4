import { s } from '../../../schema/builders.ts';
import { type FieldError, forbidden, invalid, required, tooLong } from '../../../schema/field-error.ts';
import { dnsSubdomain } from '../../../schema/names.ts';
import type { ObjectType } from '../../../schema/schema.ts';
import { age, flag, name, text } from '../../columns/column.ts';
import { defineKind, type ObjectOf } from '../../kind.ts';
import { csiDriverName } from '../../shapes/meta/csi-driver-name.ts';
import { InlineVolumeSpec } from './inline-volume-spec.ts';
import { metadataSize } from './parameters.ts';

const MAX_MESSAGE = 1024;
/** What the message about a long message names; it is another limit's. */
const SAID_LIMIT = 256 * 1024;

const source = {
  persistentVolumeName: s.string({ description: 'The name of a PersistentVolume.' }),
  inlineVolumeSpec: s.use(InlineVolumeSpec, { description: 'A volume that a pod describes itself.' }),
};

const spec = {
  attacher: s.string({
    zero: true,
    required: true,
    description: 'The driver that does it.',
    rules: [csiDriverName],
  }),
  source: s.object('VolumeAttachmentSource', source, {
    zero: true,
    description: 'The volume: one of the two.',
    rules: [oneSource],
  }),
  nodeName: s.string({ zero: true, description: 'The node.' }),
};

const VolumeError = s.object('VolumeError', {
  time: s.time({ description: 'When it happened.' }),
  message: s.string({
    omitZero: true,
    rules: [(text: string) => (Buffer.byteLength(text) > MAX_MESSAGE ? tooLong('', SAID_LIMIT) : undefined)],
  }),
  errorCode: s.int32({ min: 0, max: 2 ** 31 - 1, description: 'The code that the driver gave.' }),
});

const VolumeAttachmentStatus = s.object('VolumeAttachmentStatus', {
  attached: s.boolean({ zero: true, description: 'It is done.' }),
  attachmentMetadata: s.map(s.string(), {
    description: 'What the driver wants to be told when the volume is mounted.',
    rules: [metadataSize],
  }),
  attachError: s.use(VolumeError, { description: 'Why it could not be attached the last time.' }),
  detachError: s.use(VolumeError, { description: 'Why it could not be detached the last time.' }),
});

/** Brings a volume to a node. */
export const VolumeAttachment = defineKind({
  group: 'storage.k8s.io',
  kind: 'VolumeAttachment',
  plural: 'volumeattachments',
  scope: 'Cluster',
  description: 'The wish that a volume be attached to a node, and what has become of it. Deleting it asks for the end.',
  versions: { 'storage.k8s.io/v1': {} },
  fields: {
    spec: s.object('VolumeAttachmentSpec', spec, {
      zero: true,
      immutable: true,
      description: 'What is to be attached where. Cannot be changed.',
      rules: [namesNode],
    }),
    status: s.use(VolumeAttachmentStatus, { default: {}, description: 'What has become of it.' }),
  },
  requiresVersion: true,
  subresources: { status: true },
  initialStatus: () => ({ attached: false }),
  columns: [
    name,
    { ...text('Attacher', 'Who attaches it.', ({ spec }) => spec?.attacher ?? ''), format: 'name' },
    text('PV', 'Which volume.', ({ spec }) => spec?.source?.persistentVolumeName ?? ''),
    text('Node', 'To which node.', ({ spec }) => spec?.nodeName ?? ''),
    flag('Attached', 'Whether it is attached.', ({ status }) => status?.attached ?? false),
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

function namesNode({ nodeName }: ObjectType<typeof spec>): FieldError[] {
  return dnsSubdomain(nodeName).map((each) => invalid('nodeName', nodeName, each));
}
