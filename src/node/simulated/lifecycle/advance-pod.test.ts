/** Property tests: whatever a pod looks like, and whenever it is changed or deleted, the kubelet’s guarantees hold. */

import { expect, test } from 'vitest';
import { fc, forAll, propertyRuns } from '../../../../test/support/property-runs.ts';
import type { Random } from '../../../base/random.ts';
import type { Condition } from '../../pod/conditions.ts';
import { podStatus } from '../../pod/pod-status.ts';
import { DEFAULT_STAGES, type Ending, type Stages } from '../rules/rules.ts';
import { advancePod, nextDue } from './advance-pod.ts';
import { newPodLife, type PodLife } from './pod-life.ts';

const span = fc.tuple(fc.nat(5_000), fc.nat(5_000)).map(([min, more]) => ({ min, max: min + more }));
const ending: fc.Arbitrary<Ending> = fc
  .record({ takes: span, exitCode: fc.constantFrom(0, 0, 1, 137), times: fc.option(fc.nat(3), { nil: undefined }) })
  .map(({ times, ...rest }) => ({ ...rest, ...(times === undefined ? {} : { times }) }));
const stages: fc.Arbitrary<Stages> = fc.record({
  sandbox: span,
  pull: fc
    .record({ takes: span, fails: fc.constantFrom(undefined, undefined, 'not found') })
    .map(({ takes, fails }) => ({
      takes,
      ...(fails ? { fails } : {}),
    })),
  init: ending,
  ready: span,
  run: fc.option(ending, { nil: undefined }),
  liveness: fc.option(fc.record({ after: span, times: fc.nat(3) }), { nil: undefined }),
  readiness: fc.option(fc.record({ after: span, for: span }), { nil: undefined }),
  stop: span,
  logs: fc.constant(DEFAULT_STAGES.logs),
  usage: fc.constant(DEFAULT_STAGES.usage),
});
const containers = (prefix: string, min: number) =>
  fc.integer({ min: min, max: 3 }).map((count) =>
    Array.from({ length: count }, (_, index) => ({
      name: `${prefix}${index}`,
      image: `${prefix}:1`,
      // Every other container has probes.
      ...(index % 2 === 0 && prefix !== 'i' ? { livenessProbe: {}, readinessProbe: {} } : {}),
    })),
  );
const pods = fc.record({
  restartPolicy: fc.constantFrom('Always', 'OnFailure', 'Never'),
  activeDeadlineSeconds: fc.option(fc.integer({ min: 1, max: 60 }), { nil: undefined }),
  containers: containers('c', 1),
  initContainers: fc
    .tuple(containers('i', 0), containers('s', 0))
    .map(([init, side]) => [...init, ...side.map((each) => ({ ...each, restartPolicy: 'Always' }))]),
});

const random = (seed: number): Random => {
  let state = seed;
  const int = (limit: number) => {
    state = (state * 1_103_515_245 + 12_345) % 2 ** 31;
    return state % limit;
  };
  return { int, uuid: () => '', bytes: (length) => Buffer.alloc(length) };
};

const RANK = { Pending: 0, Running: 1, Succeeded: 2, Failed: 2 };
const START = Date.parse('2030-01-01T00:00:00Z');
/** A pod that is deleted is advanced to its end: with probes whose result changes every millisecond, these are many steps. */
const MAX_STEPS_TO_END = 50_000;

/** Advances the pod for a while, and inspects it after every step. */
function live(
  spec: any,
  chosen: Stages,
  { seed, deletedAfter, restartAfter }: any,
  look: (life: PodLife, status: any) => void,
) {
  const metadata: any = { name: 'a', namespace: 'x', uid: '01234567-89ab-cdef-0123-456789abcdef', generation: 1 };
  let pod: any = { metadata, spec: { terminationGracePeriodSeconds: 30, ...spec }, status: { phase: 'Pending' } };
  const chance = random(seed);
  let now = START;
  let life = newPodLife({ pod, stages: chosen, now, sandboxTakes: 10 });
  let conditions: readonly Condition[] = [];
  for (let advanceOnce = 0; advanceOnce < (pod.metadata.deletionTimestamp ? MAX_STEPS_TO_END : 60); advanceOnce++) {
    advancePod(life, { now, random: chance, takeAddress: () => '10.0.0.2', emit: () => {} });
    const { phase, runs, hasSandbox, startTime, address, failure } = life;
    const report = { pod, phase, runs, hasSandbox, now, startTime, hostIP: '192.0.2.1', podIP: address, failure };
    const status = podStatus(report, conditions);
    conditions = status.conditions;
    look(life, status);
    if (advanceOnce === restartAfter) {
      pod = { ...pod, status };
      life = newPodLife({ pod, stages: chosen, now, sandboxTakes: 10 });
      continue;
    }
    if (advanceOnce === deletedAfter) {
      const deletionTimestamp = `${new Date(now + 30_000).toISOString().slice(0, 19)}Z`;
      pod = { ...pod, metadata: { ...metadata, deletionTimestamp, deletionGracePeriodSeconds: 30 } };
      life.pod = pod;
      continue;
    }
    const next = nextDue(life);
    if (next === undefined) break;
    expect(next).toBeGreaterThan(now);
    now = next;
  }
  return { life, now };
}

const happenings = fc.record({
  seed: fc.nat(1_000_000),
  deletedAfter: fc.option(fc.nat(20), { nil: -1 }),
  restartAfter: fc.option(fc.nat(20), { nil: -1 }),
});

test('a pod never violates the kubelet’s guarantees', () => {
  forAll({ numRuns: propertyRuns(100) }, pods, stages, happenings, (spec, chosen, events) => {
    let rank = 0;
    let initialized = false;
    const restarts = new Map<string, number>();
    live(spec, chosen, events, (life, status) => {
      const holds = (type: string) => status.conditions.find((each: any) => each.type === type).status === 'True';
      const main: any[] = status.containerStatuses;
      // A phase never goes back, and a terminal phase is final.
      expect(RANK[life.phase]).toBeGreaterThanOrEqual(rank);
      rank = RANK[life.phase];
      if (rank === 2) expect(life.runs.filter(({ state }) => state.type === 'running')).toEqual([]);
      // In a ready pod, all containers run.
      if (holds('Ready')) {
        expect(life.phase).toBe('Running');
        expect(main.every(({ ready, state }) => ready && state.running)).toBe(true);
      }
      expect(holds('Ready')).toBe(holds('ContainersReady'));
      // Main containers run only after initialization, which stays done.
      if (main.some(({ state }) => state.running)) expect(holds('Initialized')).toBe(true);
      // A sidecar can still die before the main containers have started.
      const isSidecarDown = life.runs.some(({ role, state }) => role === 'sidecar' && state.type !== 'running');
      if (rank < 2 && initialized && !isSidecarDown) expect(holds('Initialized')).toBe(true);
      initialized = rank < 2 && holds('Initialized');
      if (life.runs.some(({ state }) => state.type === 'running')) {
        expect(holds('PodReadyToStartContainers')).toBe(true);
        expect(status.podIP).toBeTruthy();
      }
      // Init containers run one at a time.
      expect(life.runs.filter(({ role, state }) => role === 'init' && state.type === 'running').length).toBeLessThan(2);
      // Restart counts grow, and are reported up to five.
      for (const run of life.runs) {
        expect(run.restarts).toBeGreaterThanOrEqual(restarts.get(run.name) ?? 0);
        restarts.set(run.name, Math.min(run.restarts, 5));
      }
      expect(main.every(({ restartCount }) => restartCount <= 5)).toBe(true);
      if (spec.restartPolicy === 'Never') expect(main.every(({ restartCount }) => restartCount === 0)).toBe(true);
    });
  });
});

test('a pod that is deleted is gone within its grace period, in the end', () => {
  forAll({ numRuns: propertyRuns(70) }, pods, stages, happenings, fc.nat(15), (spec, chosen, events, deletedAfter) => {
    let deletedAt: number | undefined;
    const { life, now } = live(spec, chosen, { ...events, deletedAfter, restartAfter: -1 }, ({ pod, isTerminated }) => {
      const { deletionTimestamp } = pod.metadata;
      if (deletionTimestamp) deletedAt ??= Date.parse(deletionTimestamp);
      if (isTerminated) expect(pod.metadata.deletionTimestamp).toBeTruthy();
    });
    if (deletedAt === undefined) return;
    expect(life.isTerminated).toBe(true);
    expect(now).toBeLessThanOrEqual(deletedAt + 1_000);
    expect(RANK[life.phase]).toBe(2);
  });
});

test('a status without times, which a client wrote, is continued from now', () => {
  const spec = { restartPolicy: 'Always', containers: [{ name: 'a' }, { name: 'b' }, { name: 'c' }] };
  const common = { ready: false, restartCount: 1, image: 'i', imageID: '' };
  const ended = { terminated: { exitCode: 1 } };
  const containerStatuses = [
    { ...common, name: 'a', state: { waiting: { reason: 'CrashLoopBackOff' } }, lastState: ended },
    { ...common, name: 'b', state: { running: {} }, lastState: {} },
    { ...common, name: 'c', state: ended, lastState: ended },
  ];
  const pod: any = {
    metadata: { name: 'a', namespace: 'x', uid: 'u' },
    spec,
    status: { phase: 'Running', podIP: '10.0.0.2', containerStatuses },
  };
  const life = newPodLife({ pod, stages: DEFAULT_STAGES, now: START, sandboxTakes: 0 });
  advancePod(life, { now: START, random: random(1), takeAddress: () => '10.0.0.2', emit: () => {} });
  expect(nextDue(life)).toBe(START + 10_000);
  const { phase, runs, hasSandbox, startTime, address, failure } = life;
  const report = { pod, phase, runs, hasSandbox, now: START, startTime, hostIP: 'h', podIP: address, failure };
  expect(podStatus(report, []).startTime).toBe('2030-01-01T00:00:00Z');
});
