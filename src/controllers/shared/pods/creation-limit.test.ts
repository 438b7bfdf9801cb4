import { describe, expect, it } from 'vitest';
import { PlannerWorld } from '../../../../test/support/planner-world.ts';
import { ReplicaSet } from '../../../kinds/groups/apps/replica-set.ts';
import { StatefulSet } from '../../../kinds/groups/apps/stateful-set.ts';
import { Job } from '../../../kinds/groups/batch/job.ts';
import { Pod } from '../../../kinds/groups/core/pod/pod.ts';
import { planJob } from '../../workloads/job/job.ts';
import { planReplicaSet } from '../../workloads/replica-set/replica-set.ts';
import { planStatefulSet } from '../../workloads/stateful-set/stateful-set.ts';
import { MAX_WAITING_PODS, ROOM_CHECK_MS, roomForPods } from './creation-limit.ts';

const NOW = new Date('2030-01-01T00:00:00Z');
const LARGEST = 2 ** 31 - 1;
const labels = { app: 'a' };
const template = { metadata: { labels }, spec: { containers: [{ name: 'c', image: 'i' }] } };
const key = { namespace: 'x', name: 'o' };
const common = { selector: { matchLabels: labels }, template };

/** World with `waiting` pods that wait for a node, and as many that do not. */
function crowd(waiting: number): PlannerWorld {
  const world = new PlannerWorld();
  for (let at = 0; at < waiting; at++) {
    world.put(Pod, { metadata: { name: `w-${at}`, namespace: 'x' }, spec: {}, status: {} });
    world.put(Pod, { metadata: { name: `p-${at}`, namespace: 'x' }, spec: { nodeName: 'n' }, status: {} });
  }
  return world;
}

const owner = (spec: object) => ({ metadata: { ...key, uid: 'o' }, spec: { ...common, ...spec }, status: {} });

const PLANS: Record<string, (world: PlannerWorld) => readonly any[]> = {
  ReplicaSet: (world) => {
    const set = world.put(ReplicaSet, owner({ replicas: LARGEST }));
    return planReplicaSet(set, { of: world.of, observed: false, failures: [] }, NOW);
  },
  StatefulSet: (world) => {
    const policy = { podManagementPolicy: 'Parallel', updateStrategy: { type: 'OnDelete' } };
    const set = world.put(StatefulSet, owner({ replicas: LARGEST, ...policy }));
    return planStatefulSet(set, { of: world.of, observed: { pods: false, revisions: false } }, NOW);
  },
  Job: (world) => {
    const job = world.put(Job, owner({ completions: LARGEST, parallelism: LARGEST, backoffLimit: 6 }));
    const observed = { mayAdopt: false, failures: { count: 0, last: 0 } };
    return planJob(job, { of: world.of, key, observed, failures: [] }, NOW);
  },
};

const created = (plan: readonly any[]) => plan.filter(({ type, kind }) => type === 'create' && kind === Pod).length;
const isCheckedLater = (plan: readonly any[]) =>
  plan.some(({ type, milliseconds }) => type === 'requeueAfter' && milliseconds === ROOM_CHECK_MS);

describe.each(Object.entries(PLANS))('a %s of the largest size', (_, plan) => {
  it('creates pods in bursts', () => {
    const made = plan(crowd(0));
    expect(created(made)).toBe(500);
    expect(isCheckedLater(made)).toBe(false);
  });

  it('creates as many as there is room for, and looks again later', () => {
    const made = plan(crowd(MAX_WAITING_PODS - 7));
    expect(created(made)).toBe(7);
    expect(isCheckedLater(made)).toBe(true);
  });

  it('creates none while too many wait for a node', () => {
    const made = plan(crowd(MAX_WAITING_PODS));
    expect(created(made)).toBe(0);
    expect(isCheckedLater(made)).toBe(true);
  });
});

it('pods of a large template have less room, and one of any size has room', () => {
  const large = { spec: { containers: [{ args: ['x'.repeat(1024 * 1024)] }] } };
  expect(roomForPods(large, 'x', new PlannerWorld())).toBe(64);
  const huge = { spec: { containers: [{ args: ['x'.repeat(300 * 1024 * 1024)] }] } };
  expect(roomForPods(huge, 'x', new PlannerWorld())).toBe(1);
});
