import { expect, it } from 'vitest';
import { create, update } from '../../../../test/support/kinds/test-object.ts';
import { VolumeAttachment } from './volume-attachment.ts';

const metadata = { name: 'a' };
const spec = { attacher: 'disks.example.com', nodeName: 'node-1', source: { persistentVolumeName: 'v' } };
const attachment = (parts: object) => ({ metadata, spec: { ...spec, ...parts } });
const inline = (parts: object) => ({ source: { inlineVolumeSpec: parts } });
const csi = { driver: 'disks.example.com', volumeHandle: 'h' };
const accessModes = ['ReadWriteOnce'];
const AT = 'spec.source.inlineVolumeSpec';

it('a VolumeAttachment starts as not attached', () => {
  expect(create(VolumeAttachment, attachment({}))).toEqual({
    object: { metadata, spec, status: { attached: false } },
    errors: [],
  });
});

it.each<[string, object, string[]]>([
  ['a volume of a pod', inline({ csi, accessModes, volumeMode: 'Filesystem' }), []],
  [
    'nothing',
    { attacher: undefined, nodeName: undefined, source: undefined },
    [
      'spec.attacher: Required value',
      'spec.source: Required value: must specify exactly one of inlineVolumeSpec and persistentVolumeName',
      expect.stringContaining('spec.nodeName: Invalid value: "": a lowercase RFC 1123 subdomain'),
    ],
  ],
  [
    'two volumes',
    { source: { persistentVolumeName: 'v', inlineVolumeSpec: { csi, accessModes } } },
    ['spec.source: Forbidden: must specify exactly one of inlineVolumeSpec and persistentVolumeName'],
  ],
  [
    'a volume without a name',
    { source: { persistentVolumeName: '' } },
    [
      'spec.source.persistentVolumeName: Required value: must specify non empty persistentVolumeName',
      expect.stringContaining('spec.source.persistentVolumeName: Invalid value: "": a lowercase RFC 1123'),
    ],
  ],
  [
    'a volume of a pod that says nothing',
    inline({}),
    [
      `${AT}.accessModes: Required value`,
      `${AT}.csi: Required value: has to be specified in the context of inline volumes`,
      `${AT}: Required value: must specify a volume type`,
    ],
  ],
  [
    'a volume of a pod that says too much',
    inline({
      csi,
      accessModes,
      nfs: { server: 's', path: '/' },
      capacity: { storage: '1' },
      claimRef: {},
      nodeAffinity: {},
      persistentVolumeReclaimPolicy: 'Delete',
      storageClassName: 'fast',
      volumeMode: 'Block',
    }),
    [
      `${AT}.claimRef: Forbidden: may not be specified in the context of inline volumes`,
      `${AT}.capacity: Forbidden: may not be specified in the context of inline volumes`,
      `${AT}.persistentVolumeReclaimPolicy: Forbidden: may only be Retain in the context of inline volumes`,
      `${AT}.nodeAffinity: Forbidden: may not be specified in the context of inline volumes`,
      `${AT}.csi: Forbidden: may not specify more than 1 volume type`,
      `${AT}.storageClassName: Forbidden: may not be specified in the context of inline volumes`,
      `${AT}.volumeMode: Forbidden: may not specify volumeMode other than Filesystem in the context of inline volumes`,
    ],
  ],
])('a VolumeAttachment with %s is validated', (_what, parts, errors) => {
  expect(create(VolumeAttachment, attachment(parts)).errors).toEqual(errors);
});

it('a VolumeAttachment has an immutable spec', () => {
  const { object: old } = create(VolumeAttachment, attachment({}));
  expect(update(VolumeAttachment, old, attachment({})).errors).toEqual([]);
  expect(update(VolumeAttachment, old, attachment({ nodeName: 'node-2' })).errors).toEqual([
    expect.stringMatching(/^spec: Invalid value: \{.*"nodeName":"node-2".*\}: field is immutable$/),
  ]);
});

it.each<[string, object, ...string[]]>([
  ['is done', { attached: true, attachmentMetadata: { device: '/dev/sdb' } }],
  ['failed', { attachError: { message: 'no room', time: '2026-01-02T03:04:05Z', errorCode: 8 } }],
  [
    'failed in an odd way',
    { detachError: { message: 'x'.repeat(1025), errorCode: -1 } },
    'status.detachError.message: Too long: may not be more than 262144 bytes',
    'status.detachError.errorCode: Invalid value: -1: must be between 0 and 2147483647, inclusive',
  ],
  [
    'is told too much',
    { attachmentMetadata: { device: 'x'.repeat(256 * 1024) } },
    'status.attachmentMetadata: Too long: may not be more than 262144 bytes',
  ],
])('a VolumeAttachment: %s', (_what, status, ...errors) => {
  const { object: old } = create(VolumeAttachment, attachment({}));
  const written = update(VolumeAttachment, old, { ...attachment({}), status }, { subresource: 'status' });
  expect(written.errors).toEqual(errors);
  expect(written.object.status).toEqual({ attached: false, ...status });
});
