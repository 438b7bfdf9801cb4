import { expect, it } from 'vitest';
import { HELD, OURS, said, World } from '../../../../test/support/directory-world.ts';
import { PersistentVolume } from '../../../kinds/groups/core/persistent-volume/persistent-volume.ts';

const directory = (spec: object = {}, rest: { metadata?: object; status?: object } = {}) => ({
  metadata: {
    name: 'v',
    labels: { 'volume.kubernetes.io/node': 'n1' },
    annotations: { 'pv.kubernetes.io/provisioned-by': OURS },
    finalizers: [HELD],
    ...rest.metadata,
  },
  spec: { local: { path: '/a/n1/v' }, persistentVolumeReclaimPolicy: 'Delete', ...spec },
  status: { phase: 'Released', ...rest.status },
});
const deletionTimestamp = '2030-01-01T00:00:00Z';
const handled = (given: object, isNodeThere = true) => {
  const world = new World();
  if (isNodeThere) world.node('n1');
  world.put(PersistentVolume, given);
  const plan = world.plan('v');
  world.apply(plan);
  return { metadata: world.volume('v')?.metadata, events: said(plan), isPlanned: plan.length > 0 };
};

it('a volume is deleted when its claim is gone, and then waits for its node', () => {
  expect(handled(directory()).metadata.deletionTimestamp).toBeDefined();
  expect(handled(directory({}, { metadata: { deletionTimestamp } })).isPlanned).toBe(false);
});

it('a volume is ignored while it is in use, or to be kept', () => {
  expect(handled(directory({}, { status: { phase: 'Bound' } })).isPlanned).toBe(false);
  const kept = directory({ persistentVolumeReclaimPolicy: 'Retain' }, { metadata: { finalizers: ['a'] } });
  expect(handled(kept).isPlanned).toBe(false);
});

it('a volume has the finalizer or not, by its reclaim policy', () => {
  const bound = { status: { phase: 'Bound' } };
  expect(handled(directory({ persistentVolumeReclaimPolicy: 'Retain' }, bound)).metadata.finalizers).toEqual([]);
  expect(handled(directory({}, { ...bound, metadata: { finalizers: [] } })).metadata.finalizers).toEqual([HELD]);
});

it('a volume is released when its node is gone', () => {
  expect(handled(directory({}, { metadata: { deletionTimestamp } }), false).metadata.finalizers).toEqual([]);
});

it('a volume is released when its directory cannot be determined', () => {
  const odd = directory({ local: { path: '/a/other' } }, { metadata: { deletionTimestamp } });
  expect(handled(odd)).toMatchObject({
    metadata: { finalizers: [] },
    events: ['VolumeFailedDelete: the node or path of the directory cannot be determined: its data is not removed'],
  });
});

it('a volume of another provisioner is not touched', () => {
  expect(handled(directory({}, { metadata: { annotations: {} } })).isPlanned).toBe(false);
});
