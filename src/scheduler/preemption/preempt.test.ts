import { describe, expect, it } from 'vitest';
import { fc, forAll } from '../../../test/support/property-runs.ts';
import { nodeObject, podOf, TestWorld } from '../../../test/support/scheduler/test-world.ts';
import { systemRandom } from '../../base/random.ts';
import type { PodInfo } from '../cluster/pod-info.ts';
import { decide } from '../framework/decide.ts';
import type { Budget } from '../objects.ts';
import { plugins } from '../plugins/all.ts';
import { preempt } from './preempt.ts';

const random = { ...systemRandom, int: () => 0 };
const wanting = (cpu: string, priority: number, spec: object = {}) =>
  podOf({ requests: { cpu }, spec: { priority, ...spec } });
const having = (cpu: string, priority: number, parts: object = {}) => ({
  requests: { cpu },
  spec: { priority },
  ...parts,
});

function attempt(world: TestWorld, pod: PodInfo, budgets: readonly Budget[] = []) {
  const decision = decide(pod, { plugins, world, position: { next: 0 }, random });
  if (decision.type === 'node') throw new Error('the pod fits');
  return preempt(pod, { world, budgets, random, diagnosis: decision.diagnosis, filters: decision.filters });
}

function victims(world: TestWorld, pod: PodInfo, budgets: readonly Budget[] = []) {
  const outcome = attempt(world, pod, budgets);
  if (outcome.type === 'none') return outcome.message;
  return [outcome.candidate.nodeName, ...outcome.candidate.victims.map(({ name }) => name)];
}

const budget = (app: string, disruptionsAllowed: number, disruptedPods: object = {}): Budget =>
  ({
    metadata: { name: app, namespace: 'default' },
    spec: { selector: { matchLabels: { app } } },
    status: { disruptionsAllowed, disruptedPods },
  }) as unknown as Budget;

describe('victims', () => {
  it('are as few as possible, and of the lowest priority', () => {
    const world = new TestWorld([nodeObject('a')]);
    world.place(
      'a',
      having('1', 1, { name: 'low' }),
      having('1', 2, { name: 'middle' }),
      having('2', 3, { name: 'high' }),
    );
    expect(victims(world, wanting('1', 5))).toEqual(['a', 'low']);
    expect(victims(world, wanting('2', 5))).toEqual(['a', 'middle', 'low']);
    expect(victims(world, wanting('2', 3))).toEqual(['a', 'middle', 'low']);
  });

  it('are none when all pods have the same priority', () => {
    const world = new TestWorld([nodeObject('a'), nodeObject('b', { spec: { unschedulable: true } })]);
    world.place('a', having('4', 5));
    expect(victims(world, wanting('1', 5))).toBe(
      'no new claims to deallocate, preemption: 0/2 nodes are available: 1 No preemption victims found for incoming pod, 1 Preemption is not helpful for scheduling.',
    );
  });

  it('are none where eviction would not help', () => {
    const world = new TestWorld([nodeObject('a')]);
    world.place('a', having('2', 1), having('2', 7));
    expect(victims(world, wanting('3', 5))).toBe(
      'no new claims to deallocate, preemption: 0/1 nodes are available: 1 Insufficient cpu.',
    );
  });

  it('are none for a pod with the policy Never', () => {
    const world = new TestWorld([nodeObject('a')]);
    world.place('a', having('4', 1));
    expect(victims(world, wanting('1', 5, { preemptionPolicy: 'Never' }))).toBe(
      'no new claims to deallocate, preemption: not eligible due to preemptionPolicy=Never.',
    );
  });

  it('are none while earlier victims are terminating', () => {
    const world = new TestWorld([nodeObject('a')]);
    const conditions = [{ type: 'DisruptionTarget', status: 'True', reason: 'PreemptionByScheduler' }];
    const metadata = { deletionTimestamp: '2030-01-01T00:00:00Z', deletionGracePeriodSeconds: 30 };
    world.place('a', having('4', 1, { metadata, status: { conditions } }));
    const pod = wanting('1', 5);
    world.cluster.nominations.set(pod, 'a');
    expect(victims(world, pod)).toBe(
      'no new claims to deallocate, preemption: not eligible due to a terminating pod on the nominated node.',
    );
  });

  it('include pods whose anti-affinity excludes the pod', () => {
    const world = new TestWorld([nodeObject('a')]);
    const term = { topologyKey: 'kubernetes.io/hostname', labelSelector: { matchLabels: { app: 'web' } } };
    const affinity = { podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [term] } };
    world.place('a', { name: 'hater', spec: { priority: 1, affinity } }, having('1', 1, { name: 'bystander' }));
    const pod = podOf({ labels: { app: 'web' }, spec: { priority: 5 } });
    expect(victims(world, pod)).toEqual(['a', 'hater']);
  });
});

describe('the chosen node is the one', () => {
  const two = () => new TestWorld([nodeObject('a'), nodeObject('b')]);
  const labels = { app: 'db' };

  it('where fewer budgets are violated', () => {
    const world = two();
    world.place('a', having('4', 1, { labels }));
    world.place('b', having('4', 2, { name: 'free' }));
    expect(victims(world, wanting('1', 5), [budget('db', 0)])).toEqual(['b', 'free']);
    expect(victims(world, wanting('1', 5), [budget('db', 1)])![0]).toBe('a');
  });

  it('where the highest priority of a victim is lowest', () => {
    const world = two();
    world.place('a', having('4', 2));
    world.place('b', having('2', 1), having('2', 1));
    expect(victims(world, wanting('4', 5))![0]).toBe('b');
  });

  it('where the sum of priorities is lowest, then where victims are fewest', () => {
    const world = two();
    world.place('a', having('2', 2), having('2', 1));
    world.place('b', having('2', 2), having('2', 0));
    expect(victims(world, wanting('4', 5))![0]).toBe('b');
    const other = two();
    other.place('a', having('2', -1), having('2', -1));
    other.place('b', having('4', -1));
    expect(victims(other, wanting('4', 5))![0]).toBe('b');
  });

  it('where the victim of the highest priority started last', () => {
    const world = two();
    const started = (startTime: string) => having('4', 1, { status: { startTime } });
    world.place('a', started('2030-01-01T00:00:00Z'));
    world.place('b', started('2030-01-02T00:00:00Z'));
    expect(victims(world, wanting('4', 5))![0]).toBe('b');
  });
});

it('spares pods of a budget, even at a lower priority', () => {
  const world = new TestWorld([nodeObject('a')]);
  world.place('a', having('2', 1, { name: 'kept', labels: { app: 'db' } }), having('2', 2, { name: 'sent' }));
  expect(victims(world, wanting('2', 5), [budget('db', 0)])).toEqual(['a', 'sent']);
  expect(victims(world, wanting('2', 5), [budget('db', 1)])).toEqual(['a', 'kept']);
  expect(victims(world, wanting('2', 5), [budget('db', 0, { kept: '2030-01-01T00:00:00Z' })])).toEqual(['a', 'kept']);
});

it('changes nothing, and every victim is necessary', () => {
  const pods = fc.array(
    fc.record({ cpu: fc.integer({ min: 0, max: 3 }), priority: fc.integer({ min: 0, max: 4 }), node: fc.nat(2) }),
    {
      maxLength: 10,
    },
  );
  forAll(pods, fc.integer({ min: 1, max: 4 }), fc.integer({ min: 0, max: 5 }), (list, cpu, priority) => {
    const world = new TestWorld([nodeObject('n0'), nodeObject('n1'), nodeObject('n2')]);
    for (const each of list) world.place(`n${each.node}`, having(String(each.cpu), each.priority));
    const state = () =>
      world.cluster.nodes.map((node) => [node.name, node.cpu, node.freePods, [...node.pods.keys()].sort()]);
    const before = state();
    const pod = wanting(String(cpu), priority);
    const fits = () => decide(pod, { plugins, world, position: { next: 0 }, random });
    if (fits().type === 'node') return;
    const outcome = attempt(world, pod);
    expect(state()).toEqual(before);
    if (outcome.type === 'none') return;
    const { nodeName, victims } = outcome.candidate;
    expect(victims.length).toBeGreaterThan(0);
    for (const victim of victims) {
      expect(victim.priority).toBeLessThan(priority);
      world.cluster.remove(victim.uid);
    }
    expect(fits()).toMatchObject({ node: { name: nodeName } });
    for (const victim of victims) {
      world.cluster.place(victim, nodeName);
      expect(fits().type).toBe('none');
      world.cluster.remove(victim.uid);
    }
  });
});
