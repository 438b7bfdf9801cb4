import { expect, it } from 'vitest';
import { create, update } from '../../../../../test/support/kinds/test-object.ts';
import { PersistentVolume } from './persistent-volume.ts';

const metadata = { name: 'v' };
const nfs = { server: 's', path: '/p' };
const plain = { capacity: { storage: '1Gi' }, accessModes: ['ReadWriteOnce'], nfs };
const volume = (spec: object) => ({ metadata, spec });
const nodes = { required: { nodeSelectorTerms: [{ matchExpressions: [{ key: 'a', operator: 'Exists' }] }] } };

it('a PersistentVolume waits, is kept after use and holds files, unless it says otherwise', () => {
  expect(create(PersistentVolume, volume(plain))).toEqual({
    object: {
      metadata,
      spec: { ...plain, persistentVolumeReclaimPolicy: 'Retain', volumeMode: 'Filesystem' },
      status: { phase: 'Pending', lastPhaseTransitionTime: expect.stringMatching(/Z$/) },
    },
    errors: [],
  });
});

it.each<[string, object, ...string[]]>([
  [
    'nothing',
    {},
    'spec.capacity: Required value',
    'spec.accessModes: Required value',
    'spec: Required value: must specify a volume type',
  ],
  [
    'two sources',
    { ...plain, hostPath: { path: '/x' } },
    'spec.nfs: Forbidden: may not specify more than 1 volume type',
  ],
  [
    'another capacity',
    { ...plain, capacity: { storage: '1', cpu: '1' } },
    'spec.capacity: Unsupported value: {"storage":"1","cpu":"1"}: supported values: "storage"',
  ],
  [
    'no room',
    { ...plain, capacity: { storage: '0' } },
    'spec.capacity[storage]: Invalid value: "0": must be greater than zero',
  ],
  [
    'an unknown access mode',
    { ...plain, accessModes: ['X'] },
    'spec.accessModes: Unsupported value: "X": supported values: "ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod"',
  ],
  [
    'one pod and many',
    { ...plain, accessModes: ['ReadWriteOncePod', 'ReadOnlyMany'] },
    'spec.accessModes: Forbidden: may not use ReadWriteOncePod with other access modes',
  ],
  [
    'an unknown policy',
    { ...plain, persistentVolumeReclaimPolicy: 'X' },
    'spec.persistentVolumeReclaimPolicy: Unsupported value: "X": supported values: "Delete", "Recycle", "Retain"',
  ],
  [
    'a local disk without its node',
    { ...plain, nfs: undefined, local: { path: '/d' } },
    'spec.nodeAffinity: Required value: Local volume requires node affinity',
  ],
  ['a local disk', { ...plain, nfs: undefined, local: { path: '/d' }, nodeAffinity: nodes }],
  [
    'no nodes',
    { ...plain, nodeAffinity: {} },
    'spec.nodeAffinity.required: Required value: must specify required node constraints',
  ],
  [
    'a whole disk that is wiped',
    { ...plain, nfs: undefined, hostPath: { path: '/..//' }, persistentVolumeReclaimPolicy: 'Recycle' },
    'spec.hostPath.path: Invalid value: "/..//": must not contain \'..\'',
    "spec.persistentVolumeReclaimPolicy: Forbidden: may not be 'recycle' for a hostPath mount of '/'",
  ],
  [
    'a class of attributes without a driver',
    { ...plain, volumeAttributesClassName: 'fast' },
    'spec.csi: Required value: has to be specified when using volumeAttributesClassName',
  ],
  [
    'a driver with a secret of no namespace',
    { ...plain, nfs: undefined, csi: { driver: 'D.io', volumeHandle: 'h', nodePublishSecretRef: { name: 's' } } },
    'spec.csi.nodePublishSecretRef.namespace: Required value',
  ],
  [
    'a target without its secret',
    {
      ...plain,
      nfs: undefined,
      iscsi: { targetPortal: 't', iqn: 'iqn.2001-04.com.example:a', lun: 256, chapAuthSession: true },
    },
    'spec.iscsi.lun: Invalid value: 256: must be between 0 and 255, inclusive',
    'spec.iscsi.secretRef: Required value',
  ],
])('a PersistentVolume with %s is judged', (_what, spec, ...errors) => {
  expect(create(PersistentVolume, volume(spec)).errors).toEqual(errors);
});

const csi = { driver: 'd.io', volumeHandle: 'h' };
const driven = { ...plain, nfs: undefined, csi };
it.each<[string, object, object, string[]]>([
  ['may grow', plain, { ...plain, capacity: { storage: '2Gi' } }, []],
  [
    'stays where it is',
    plain,
    { ...plain, nfs: { ...nfs, path: '/q' } },
    ['spec.persistentvolumesource: Forbidden: spec.persistentvolumesource is immutable after creation'],
  ],
  [
    'may be given a secret to grow with',
    driven,
    { ...driven, csi: { ...csi, controllerExpandSecretRef: { name: 's', namespace: 'n' } } },
    [],
  ],
  [
    'keeps its mode',
    plain,
    { ...plain, volumeMode: 'Block' },
    ['spec.volumeMode: Invalid value: "Block": field is immutable'],
  ],
  ['may be given its nodes', plain, { ...plain, nodeAffinity: nodes }, []],
  [
    'keeps its nodes',
    { ...plain, nodeAffinity: nodes },
    plain,
    ['spec.nodeAffinity: Invalid value: null: field is immutable'],
  ],
  [
    'keeps having a class of attributes',
    { ...driven, volumeAttributesClassName: 'fast' },
    driven,
    ['spec.volumeAttributesClassName: Forbidden: update from non-nil value to nil is forbidden'],
  ],
])('a PersistentVolume that exists %s', (_what, before, after, errors) => {
  const { object: old } = create(PersistentVolume, volume(before));
  expect(update(PersistentVolume, old, volume(after)).errors).toEqual(errors);
});

it('a PersistentVolume notes since when it has been in its phase, unless it is told', () => {
  const { object } = create(PersistentVolume, volume(plain));
  const old = { ...object, status: { phase: 'Available', lastPhaseTransitionTime: '2030-01-01T00:00:00Z' } };
  const since = (status: object) =>
    update(PersistentVolume, old, { ...old, status }, { subresource: 'status' }).object.status.lastPhaseTransitionTime;
  expect(since({ phase: 'Available' })).toBe('2030-01-01T00:00:00Z');
  expect(since({ ...old.status, phase: 'Bound' })).not.toBe('2030-01-01T00:00:00Z');
  expect(since({ phase: 'Bound', lastPhaseTransitionTime: '2031-01-01T00:00:00Z' })).toBe('2031-01-01T00:00:00Z');
});
