import { describe, expect, it } from 'vitest';
import {
  isChange,
  PlannerWorld,
  ServerWorld,
  eventsIn as said,
  settle,
} from '../../../../test/support/planner-world.ts';
import { boundClaim, claimNamed, refTo, volumeNamed } from '../../../../test/support/volume-objects.ts';
import { PersistentVolume } from '../../../kinds/groups/core/persistent-volume/persistent-volume.ts';
import { PersistentVolumeClaim } from '../../../kinds/groups/core/persistent-volume/persistent-volume-claim.ts';
import { Pod } from '../../../kinds/groups/core/pod/pod.ts';
import type { Claim, Volume } from './bind.ts';
import { planVolume } from './volumes.ts';

/** Returns the volume when nothing is left to do, undefined when it is gone, and all events. */
async function outcome(volume: Volume, claims: readonly Claim[] = [], pods: readonly object[] = []) {
  const world = new ServerWorld();
  world.put(PersistentVolume, volume);
  for (const claim of claims) world.put(PersistentVolumeClaim, claim);
  for (const pod of pods) world.put(Pod, pod);
  const now = () => world.of(PersistentVolume).get(volume.metadata.name ?? '') as Volume | undefined;
  const events: string[] = [];
  await settle(world, () => {
    const plan = planVolume(now(), world);
    events.push(...said(plan));
    return plan.filter(isChange);
  });
  return { volume: now(), phase: now()?.status.phase, claimRef: now()?.spec.claimRef, events, world };
}

const claim = boundClaim('data', 'v');
const held = (spec: object = {}, rest: object = {}) =>
  volumeNamed('v', { status: { phase: 'Bound' }, spec: { claimRef: refTo(claim), ...spec }, ...rest });

describe('a volume', () => {
  it.each<[string, Volume, readonly Claim[], string]>([
    ['that is new is free', volumeNamed('v', { status: { phase: 'Pending' } }), [], 'Available'],
    [
      'that is kept for a claim is free',
      volumeNamed('v', { status: { phase: 'Pending' }, spec: { claimRef: refTo(claim, false) } }),
      [claim],
      'Available',
    ],
    ['that its claim names is bound', held({}, { status: { phase: 'Available' } }), [claim], 'Bound'],
    [
      'whose claim has yet to name it stays as it is',
      held({}, { status: { phase: 'Pending' } }),
      [claimNamed('data')],
      'Pending',
    ],
    ['whose claim is gone is left', held(), [], 'Released'],
    [
      'whose claim was made anew is left',
      held(),
      [claimNamed('data', { metadata: { uid: 'another' }, spec: { volumeName: 'v' } })],
      'Released',
    ],
  ])('%s', async (_, volume, claims, phase) => {
    expect(await outcome(volume, claims)).toMatchObject({ phase, events: [] });
  });

  it('is not released when only the cache lacks its claim', () => {
    expect(planVolume(held(), { of: new PlannerWorld().of, observed: { claim } })).toEqual([]);
  });

  it('reports that it does not match the claim that it is reserved for', () => {
    const world = new PlannerWorld();
    world.put(PersistentVolumeClaim, claimNamed('data'));
    expect(said(planVolume(held({ volumeMode: 'Block' }), world))).toEqual([
      'VolumeMismatch: Cannot bind PersistentVolume to requested PersistentVolumeClaim "data" due to incompatible volumeMode.',
      'VolumeMismatch: Cannot bind PersistentVolume "v" to requested PersistentVolumeClaim due to incompatible volumeMode.',
    ]);
  });

  describe('whose claim has another', () => {
    const elsewhere = [boundClaim('data', 'w')];
    const ours = { 'pv.kubernetes.io/bound-by-controller': 'yes' };

    it('is free again', async () => {
      const volume = held({}, { metadata: { annotations: { ...ours, a: 'b' } } });
      const found = await outcome(volume, elsewhere);
      expect(found).toMatchObject({ phase: 'Available', claimRef: undefined });
      expect(found.volume?.metadata.annotations).toEqual({ a: 'b' });
    });

    it('stays reserved for it when a user did so', async () => {
      expect(await outcome(held(), elsewhere)).toMatchObject({
        phase: 'Available',
        claimRef: { name: 'data', namespace: 'x', uid: undefined },
      });
    });

    it('is released when it was provisioned for it', async () => {
      const annotations = { ...ours, 'pv.kubernetes.io/provisioned-by': 'example.com/disk' };
      const volume = held({ persistentVolumeReclaimPolicy: 'Delete' }, { metadata: { annotations } });
      expect(await outcome(volume, elsewhere)).toMatchObject({ phase: 'Released' });
    });
  });
});

describe('a released volume', () => {
  it('stays as it is with Retain', async () => {
    expect(await outcome(held({ persistentVolumeReclaimPolicy: 'Retain' }))).toMatchObject({
      phase: 'Released',
      claimRef: refTo(claim),
      events: [],
    });
  });

  const deleted = { persistentVolumeReclaimPolicy: 'Delete' };
  it.each<[string, Volume, object]>([
    [
      'waits for whoever made it',
      held(deleted, { metadata: { annotations: { 'pv.kubernetes.io/provisioned-by': 'example.com/disk' } } }),
      { phase: 'Released', events: [] },
    ],
    ['waits for its driver', held({ ...deleted, csi: { driver: 'd', volumeHandle: 'h' } }), { phase: 'Released' }],
    ['goes when nobody minds', held({ ...deleted, hostPath: { path: '/tmp/a' } }), { volume: undefined }],
    [
      'fails when it is a path of a node',
      held({ ...deleted, hostPath: { path: '/data' } }),
      {
        phase: 'Failed',
        events: ['VolumeFailedDelete: host_path deleter only supports /tmp/.+ but received provided /data'],
      },
    ],
    [
      'fails when nobody can delete it',
      held(deleted),
      {
        phase: 'Failed',
        events: [
          'VolumeFailedDelete: error getting deleter volume plugin for volume "v": no deletable volume plugin matched',
        ],
      },
    ],
  ])('with Delete %s', async (_, volume, expected) => {
    expect(await outcome(volume)).toMatchObject(expected);
  });

  it('reports why it failed', async () => {
    expect((await outcome(held(deleted))).volume?.status.message).toMatch(/no deletable volume plugin matched$/);
  });
});

describe('a recycled volume', () => {
  const again = { persistentVolumeReclaimPolicy: 'Recycle', hostPath: { path: '/data' } };
  const bound = { annotations: { 'pv.kubernetes.io/bound-by-controller': 'yes' } };
  const volume = held(again, { metadata: bound, status: { phase: 'Released' } });
  const emptied = (phase: string, rest: object = {}) => ({
    metadata: { name: 'recycler-for-v', namespace: 'default', ownerReferences: [{ uid: 'uid-of-v' }] },
    spec: {},
    status: { phase },
    ...rest,
  });

  it('is emptied by a pod', async () => {
    const { world, phase } = await outcome(volume);
    const pod = world.of(Pod).get('recycler-for-v', 'default');
    expect(pod.spec.volumes).toEqual([{ name: 'vol', hostPath: { path: '/data', type: '' } }]);
    expect(phase).toBe('Released');
  });

  it('is available when that has succeeded', async () => {
    const found = await outcome(volume, [], [emptied('Succeeded')]);
    expect(found).toMatchObject({
      phase: 'Available',
      claimRef: undefined,
      events: ['VolumeRecycled: Volume recycled'],
    });
    expect(found.world.of(Pod).list()).toEqual([]);
  });

  it('fails when that has failed', async () => {
    const found = await outcome(volume, [], [emptied('Failed', { status: { phase: 'Failed', message: 'too late' } })]);
    expect(found).toMatchObject({
      phase: 'Failed',
      events: ['VolumeFailedRecycle: Recycle failed: failed to recycle volume: too late'],
    });
    expect(found.world.of(Pod).list()).toEqual([]);
  });

  it('ignores a foreign pod of that name', async () => {
    const forged = emptied('Succeeded', { metadata: { name: 'recycler-for-v', namespace: 'default' } });
    const { world, phase } = await outcome(volume, [], [forged]);
    expect(phase).toBe('Released');
    expect(world.of(Pod).get('recycler-for-v', 'default').status).toEqual({});
  });

  it('waits for pods that still use it', () => {
    const world = new PlannerWorld();
    const volumes = [{ name: 'v', persistentVolumeClaim: { claimName: 'data' } }];
    world.put(Pod, { metadata: { name: 'p', namespace: 'x' }, spec: { volumes }, status: { phase: 'Running' } });
    expect(said(planVolume(volume, world))).toEqual(['VolumeFailedRecycle: Volume is used by pods: x/p']);
  });

  it('fails when its type cannot be recycled', async () => {
    const csi = { csi: { driver: 'd', volumeHandle: 'h' }, persistentVolumeReclaimPolicy: 'Recycle' };
    expect(await outcome(held(csi))).toMatchObject({
      phase: 'Failed',
      events: ['VolumeFailedRecycle: No recycler plugin found for the volume!'],
    });
  });
});
