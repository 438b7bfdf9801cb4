import { describe, expect, it } from 'vitest';
import { PlannerWorld } from '../../../../test/support/planner-world.ts';
import { PersistentVolumeClaim } from '../../../kinds/groups/core/persistent-volume/persistent-volume-claim.ts';
import { Pod } from '../../../kinds/groups/core/pod/pod.ts';
import type { Plan } from '../../loop/plan.ts';
import { planClaim, planClass, planVolume } from './storage-protection.ts';

const held = (finalizer: string, fields: object = {}, metadata: object = {}): any => ({
  metadata: {
    ...{ name: 'a', namespace: 'x', deletionTimestamp: '2030-01-01T00:00:00Z' },
    ...{ finalizers: ['example.com/other', finalizer], ...metadata },
  },
  spec: {},
  status: {},
  ...fields,
});

const left = (plan: Plan) => (plan[0] as any)?.object.metadata.finalizers;
const FREE = ['example.com/other'];

describe('a claim', () => {
  const claim = held('kubernetes.io/pvc-protection');
  const using = (volume: object, nodeName = 'n') => ({
    metadata: { name: 'p', namespace: 'x', uid: 'p' },
    spec: { nodeName, volumes: [{ name: 'v', ...volume }] },
  });

  it.each<[string, object[], boolean]>([
    ['nobody has', [], true],
    ['another pod has another of', [using({ persistentVolumeClaim: { claimName: 'b' } })], true],
    ['a pod has', [using({ persistentVolumeClaim: { claimName: 'a' } })], false],
    ['only a pod without a node names', [using({ persistentVolumeClaim: { claimName: 'a' } }, '')], true],
  ])('that %s is released or not', (_, pods, isFree) => {
    const world = new PlannerWorld();
    for (const pod of pods) world.put(Pod, pod as never);
    expect(left(planClaim(claim, world))).toEqual(isFree ? FREE : undefined);
  });

  it('of an ephemeral volume stays with its pod', () => {
    const world = new PlannerWorld();
    world.put(Pod, using({ ephemeral: {} }) as never);
    const own = held('kubernetes.io/pvc-protection', {}, { name: 'p-v' });
    expect(planClaim(own, world)).toEqual([]);
  });

  it('of an ephemeral volume is released when its terminated pod waits for it; one that the pod names is not', () => {
    const ended = (volume: object) => {
      const pod = using(volume);
      const metadata = { ...pod.metadata, deletionTimestamp: '2030-01-01T00:00:00Z', deletionGracePeriodSeconds: 0 };
      const world = new PlannerWorld();
      world.put(Pod, { ...pod, metadata: { ...metadata, finalizers: ['foregroundDeletion'] } } as never);
      return world;
    };
    const own = held('kubernetes.io/pvc-protection', {}, { name: 'p-v' });
    expect(left(planClaim(own, ended({ ephemeral: {} })))).toEqual(FREE);
    expect(planClaim(own, ended({ persistentVolumeClaim: { claimName: 'p-v' } }))).toEqual([]);
  });

  it('that nobody deletes is ignored', () => {
    const kept = held('kubernetes.io/pvc-protection', {}, { deletionTimestamp: undefined });
    expect(planClaim(kept, new PlannerWorld())).toEqual([]);
  });
});

it('a volume is released when no claim has it', () => {
  const volume = (phase: string) => held('kubernetes.io/pv-protection', { status: { phase } });
  expect(planVolume(volume('Bound'))).toEqual([]);
  expect(left(planVolume(volume('Released')))).toEqual(FREE);
});

it('a class is released when nothing refers to it', () => {
  const attributes = held('kubernetes.io/vac-protection');
  const world = new PlannerWorld();
  expect(left(planClass(attributes, world))).toEqual(FREE);
  const claim = {
    metadata: { name: 'c', namespace: 'x', uid: 'c' },
    spec: { volumeAttributesClassName: 'a' },
    status: {},
  };
  world.put(PersistentVolumeClaim, claim as never);
  expect(planClass(attributes, world)).toEqual([]);
});
