import { describe, expect, it } from 'vitest';
import {
  boundClaim,
  claimObject,
  classObject,
  nodeObject,
  podOf,
  TestWorld,
  volumeObject,
} from '../../../../test/support/scheduler/test-world.ts';
import type { CSIDriver, CSIStorageCapacity } from '../../objects.ts';
import { volumeBinding, volumePlan } from './volume-binding.ts';

const ZONE = 'topology.kubernetes.io/zone';
const zones = () =>
  new TestWorld([nodeObject('a', { labels: { [ZONE]: 'east' } }), nodeObject('b', { labels: { [ZONE]: 'west' } })]);
const inZone = (value: string) => {
  const matchExpressions = [{ key: ZONE, operator: 'In', values: [value] }];
  return { nodeAffinity: { required: { nodeSelectorTerms: [{ matchExpressions }] } } };
};
const using = (...names: string[]) => {
  const volumes = names.map((claimName) => ({ name: `v-${claimName}`, persistentVolumeClaim: { claimName } }));
  return podOf({ spec: { volumes } });
};
const waiting = (name: string, spec: object = {}) => claimObject(name, { storageClassName: 'slow', ...spec });
const NOTHING = "node(s) didn't find available persistent volumes to bind";

it('skips pods without claims', () => {
  expect(zones().isSkipped(volumeBinding, podOf())).toBe(true);
});

it.each([
  ['there is no claim', [], 'persistentvolumeclaim "data" not found'],
  [
    'the claim has no volume and waits for nobody',
    [claimObject('data')],
    'pod has unbound immediate PersistentVolumeClaims',
  ],
  [
    'its volume is lost',
    [claimObject('data', { volumeName: 'v' }, { status: { phase: 'Lost' } })],
    'persistentvolumeclaim "data" bound to non-existent persistentvolume "v"',
  ],
  [
    'it is being deleted',
    [claimObject('data', {}, { metadata: { deletionTimestamp: '2030-01-01T00:00:00Z' } })],
    'persistentvolumeclaim "data" is being deleted',
  ],
])('rejects all nodes when %s', (_, claims, reason) => {
  const world = zones();
  world.claims.push(...claims);
  expect(world.verdicts(volumeBinding, using('data'))).toBe(reason);
});

it('rejects all nodes when the claim of an ephemeral volume is missing, or has another owner', () => {
  const world = zones();
  const template = { spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } } };
  const volumes = [{ name: 'tmp', ephemeral: { volumeClaimTemplate: template } }];
  const pod = podOf({ name: 'web', spec: { volumes } });
  expect(world.verdicts(volumeBinding, pod)).toBe(
    'waiting for ephemeral volume controller to create the persistentvolumeclaim "web-tmp"',
  );
  world.claims.push(claimObject('web-tmp'));
  expect(world.verdicts(volumeBinding, pod)).toBe(
    'PVC default/web-tmp was not created for pod default/web (pod is not owner)',
  );
});

it('accepts nodes that reach a bound volume', () => {
  const world = zones();
  world.claims.push(boundClaim('data', 'v'), boundClaim('lost', 'none'));
  world.volumes.push(volumeObject('v', inZone('east')));
  expect(world.verdicts(volumeBinding, using('data'))).toEqual({
    a: 'fits',
    b: "node(s) didn't match PersistentVolume's node affinity",
  });
  const gone = 'node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)';
  expect(world.verdicts(volumeBinding, using('lost'))).toEqual({ a: gone, b: gone });
});

describe('a claim that waits for its first consumer', () => {
  it('gets the smallest volume that is large enough and can be used there', () => {
    const world = zones();
    world.classes.push(classObject('slow', { provisioner: 'kubernetes.io/no-provisioner' }));
    world.claims.push(waiting('data'));
    const of = (name: string, storage: string, zone: string) =>
      volumeObject(name, { storageClassName: 'slow', capacity: { storage }, ...inZone(zone) });
    world.volumes.push(of('large', '9Gi', 'east'), of('small', '2Gi', 'east'), of('tiny', '1Mi', 'west'));
    expect(world.verdicts(volumeBinding, using('data'))).toEqual({ a: 'fits', b: NOTHING });
    const plan = volumePlan(using('data'), world.cluster.node('a')!, world);
    expect(plan?.bind.map(({ volume }) => volume.metadata.name)).toEqual(['small']);
  });

  it('does not get a volume that is assumed for another claim, nor one volume for two claims', () => {
    const world = zones();
    world.classes.push(classObject('slow', { provisioner: 'kubernetes.io/no-provisioner' }));
    world.claims.push(waiting('data'), waiting('more'));
    world.volumes.push(volumeObject('v', { storageClassName: 'slow' }));
    expect(world.verdicts(volumeBinding, using('data', 'more'))).toEqual({ a: NOTHING, b: NOTHING });
    const plan = volumePlan(using('data'), world.cluster.node('a')!, world)!;
    world.storage.assume(plan, 'a');
    expect(world.verdicts(volumeBinding, using('more'))).toEqual({ a: NOTHING, b: NOTHING });
    world.storage.forget(plan);
    expect(world.verdicts(volumeBinding, using('more'))).toEqual({ a: 'fits', b: 'fits' });
  });

  it('is provisioned where its class allows it', () => {
    const world = zones();
    const allowedTopologies = [{ matchLabelExpressions: [{ key: ZONE, values: ['west'] }] }];
    world.classes.push(classObject('slow', { allowedTopologies }));
    world.claims.push(waiting('data'));
    expect(world.verdicts(volumeBinding, using('data'))).toEqual({ a: NOTHING, b: 'fits' });
    const plan = volumePlan(using('data'), world.cluster.node('b')!, world)!;
    expect(plan.provision.map(({ metadata }) => metadata.name)).toEqual(['data']);
  });

  it('stays with its selected node', () => {
    const world = zones();
    world.classes.push(classObject('slow'));
    world.claims.push(waiting('data'));
    const plan = volumePlan(using('data'), world.cluster.node('b')!, world)!;
    world.storage.assume(plan, 'b');
    expect(world.verdicts(volumeBinding, using('data'))).toEqual({ a: NOTHING, b: 'fits' });
  });

  it('needs capacity where drivers report it', () => {
    const world = zones();
    world.classes.push(classObject('slow'));
    world.claims.push(waiting('data'));
    world.drivers.push({
      metadata: { name: 'example.com/disk' },
      spec: { storageCapacity: true },
    } as unknown as CSIDriver);
    const capacity = (size: string, zone: string) =>
      ({
        storageClassName: 'slow',
        capacity: size,
        nodeTopology: { matchLabels: { [ZONE]: zone } },
      }) as unknown as CSIStorageCapacity;
    world.capacities.push(capacity('10Gi', 'east'), capacity('1Mi', 'west'));
    expect(world.verdicts(volumeBinding, using('data'))).toEqual({
      a: 'fits',
      b: 'node(s) did not have enough free storage',
    });
  });
});

it('gives pods that share a claim the same volume, before it is bound', () => {
  const world = zones();
  world.classes.push(classObject('slow', { provisioner: 'kubernetes.io/no-provisioner' }));
  world.claims.push(waiting('data'));
  const of = (name: string, zone: string) => volumeObject(name, { storageClassName: 'slow', ...inZone(zone) });
  world.volumes.push(of('in-east', 'east'), of('in-west', 'west'));
  expect(world.verdicts(volumeBinding, using('data'))).toEqual({ a: 'fits', b: 'fits' });
  world.storage.assume(volumePlan(using('data'), world.cluster.node('b')!, world)!, 'b');
  expect(world.verdicts(volumeBinding, using('data'))).toEqual({ a: NOTHING, b: 'fits' });
});

it('takes the volume that is reserved for the claim, and no other', () => {
  const world = zones();
  world.classes.push(classObject('slow', { provisioner: 'kubernetes.io/no-provisioner' }));
  world.claims.push(waiting('data'));
  const claimRef = { name: 'data', namespace: 'default' };
  world.volumes.push(
    volumeObject('free', { storageClassName: 'slow' }),
    volumeObject('kept', { storageClassName: 'slow', claimRef, ...inZone('west') }),
  );
  expect(world.verdicts(volumeBinding, using('data'))).toEqual({ a: NOTHING, b: 'fits' });
});

describe('a rejected pod is woken', () => {
  const world = zones();
  world.claims.push(waiting('data'), boundClaim('lost', 'gone'));
  const { PersistentVolume, StorageClass, CSIStorageCapacity } = volumeBinding.hints!;
  const volume = (name: string, storageClassName: string) => volumeObject(name, { storageClassName });

  it.each<[string, object, string, boolean]>([
    ['of the class that its claim asks for', volume('v', 'slow'), 'add', true],
    ['of that class, which has changed', volume('v', 'slow'), 'update', true],
    ['of that class, which is gone', volume('v', 'slow'), 'delete', false],
    ['of another class', volume('v', 'fast'), 'add', false],
    ['that it missed', volume('gone', 'fast'), 'add', true],
  ])('or not by a volume %s', (_, object, type, isWoken) => {
    const pod = using('data', 'lost');
    expect(PersistentVolume!({ resource: 'PersistentVolume', type, object } as never, pod, world)).toBe(isWoken);
  });

  it('only by its own class', () => {
    const added = (name: string) => ({ resource: 'StorageClass', type: 'add', object: classObject(name) }) as never;
    expect(StorageClass!(added('slow'), using('data'), world)).toBe(true);
    expect(StorageClass!(added('fast'), using('data'), world)).toBe(false);
  });

  it('only by more capacity', () => {
    const room = (capacity: string) => ({ storageClassName: 'slow', capacity });
    const changed = (capacity: string) =>
      ({ resource: 'CSIStorageCapacity', type: 'update', object: room(capacity), old: room('2Gi') }) as never;
    expect(CSIStorageCapacity!(changed('3Gi'), using('data'), world)).toBe(true);
    expect(CSIStorageCapacity!(changed('1Gi'), using('data'), world)).toBe(false);
  });
});
