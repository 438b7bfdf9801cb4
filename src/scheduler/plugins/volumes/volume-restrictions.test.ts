import { expect, it } from 'vitest';
import { boundClaim, nodeObject, podObject, podOf, TestWorld } from '../../../../test/support/scheduler/test-world.ts';
import { volumeRestrictions } from './volume-restrictions.ts';

const NO_DISK = 'node(s) had no available disk';
const disk = (source: object) => ({ spec: { volumes: [{ name: 'v', ...source }] } });
const gce = (rest: object = {}) => disk({ gcePersistentDisk: { pdName: 'd', ...rest } });
const aws = (volumeID: string) => disk({ awsElasticBlockStore: { volumeID } });
const iscsi = (rest: object = {}) =>
  disk({ iscsi: { targetPortal: '10.0.0.1', iqn: 'iqn.2001-04.com.example:x', lun: 0, ...rest } });
const rbd = (monitors: string[], rest: object = {}) => disk({ rbd: { monitors, image: 'i', ...rest } });

it.each([
  ['the same disk', gce(), gce(), NO_DISK],
  ['the same disk, only read', gce({ readOnly: true }), gce({ readOnly: true }), 'fits'],
  ['the same disk, read and written', gce({ readOnly: true }), gce(), NO_DISK],
  ['another disk', gce(), gce({ pdName: 'other' }), 'fits'],
  ['the same block store', aws('x'), aws('x'), NO_DISK],
  ['another block store', aws('x'), aws('y'), 'fits'],
  ['the same target', iscsi(), iscsi(), NO_DISK],
  ['the same image by one monitor', rbd(['m1', 'm2']), rbd(['m2', 'm3']), NO_DISK],
  ['the same image of other monitors', rbd(['m1']), rbd(['m3']), 'fits'],
  ['a disk and a target', gce(), iscsi(), 'fits'],
])('rejects or takes %s', (_, there, wanted, verdict) => {
  const world = new TestWorld([nodeObject('a'), nodeObject('b')]);
  world.place('a', there);
  expect(world.verdicts(volumeRestrictions, podOf(wanted))).toEqual({ a: verdict, b: 'fits' });
});

const using = disk({ persistentVolumeClaim: { claimName: 'data' } });

it('a ReadWriteOncePod claim is rejected on all nodes while another pod uses it', () => {
  const world = new TestWorld([nodeObject('a'), nodeObject('b')]);
  world.claims.push(boundClaim('data', 'v', { accessModes: ['ReadWriteOncePod'] }));
  expect(world.isSkipped(volumeRestrictions, podOf(using))).toBe(true);
  const [pod] = world.place('a', using);
  const inUse =
    'node(s) unavailable due to PersistentVolumeClaim with ReadWriteOncePod access mode already in-use by another pod';
  expect(world.verdicts(volumeRestrictions, podOf(using))).toEqual({ a: inUse, b: inUse });
  world.cluster.remove(pod!.uid);
  expect(world.isSkipped(volumeRestrictions, podOf(using))).toBe(true);
});

it('a ReadWriteOncePod claim is woken when the pod with the claim is deleted', () => {
  const world = new TestWorld();
  const { Pod } = volumeRestrictions.hints!;
  const gone = (parts: object) => ({ resource: 'Pod', type: 'delete', object: podObject(parts) }) as const;
  expect(Pod!(gone(using), podOf(using), world)).toBe(true);
  expect(Pod!(gone({}), podOf(using), world)).toBe(false);
});
