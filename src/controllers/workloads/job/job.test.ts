import { describe, expect, it } from 'vitest';
import {
  isChange as changes,
  deletedIn as deleted,
  PlannerWorld,
  statusIn as status,
} from '../../../../test/support/planner-world.ts';
import { fc, forAll } from '../../../../test/support/property-runs.ts';
import type { KindRef } from '../../../api/object-types.ts';
import { Job } from '../../../kinds/groups/batch/job.ts';
import { Pod } from '../../../kinds/groups/core/pod/pod.ts';
import type { Plan } from '../../loop/plan.ts';
import { NO_FAILURES } from './backoff.ts';
import { planJob } from './job.ts';

const TRACKING = 'batch.kubernetes.io/job-tracking';
const INDEX = 'batch.kubernetes.io/job-completion-index';
const labels = { 'batch.kubernetes.io/controller-uid': 'job', 'batch.kubernetes.io/job-name': 'work' };
const owner = (uid = 'job') => ({ apiVersion: 'batch/v1', kind: 'Job', name: 'work', uid, controller: true });
const start = Date.parse('2030-01-01T01:00:00Z');

class World extends PlannerWorld {
  readonly key = { namespace: 'x', name: 'work' };
  readonly observed = { mayAdopt: true, failures: NO_FAILURES };
  failures: any[] = [];
  now = start;

  /** Stores Jobs as the server does: with a status and the time of creation. */
  override put(kind: KindRef, object: any): any {
    const metadata = { creationTimestamp: '2030-01-01T00:00:00Z', ...object.metadata };
    return super.put(kind, { status: {}, ...object, metadata });
  }

  job(spec: object = {}, more: any = {}): any {
    return this.put(Job, {
      apiVersion: 'batch/v1',
      kind: 'Job',
      metadata: { name: 'work', namespace: 'x', uid: 'job', ...more.metadata },
      spec: {
        parallelism: 1,
        backoffLimit: 6,
        completionMode: 'NonIndexed',
        podReplacementPolicy: 'TerminatingOrFailed',
        selector: { matchLabels: { 'batch.kubernetes.io/controller-uid': 'job' } },
        template: { metadata: { labels }, spec: { restartPolicy: 'Never', containers: [{ name: 'main' }] } },
        ...spec,
      },
      status: more.status ?? {},
    });
  }

  pod(name: string, { metadata, ...more }: any = {}): any {
    return this.put(Pod, {
      metadata: {
        name,
        namespace: 'x',
        uid: name,
        labels,
        ownerReferences: [owner()],
        finalizers: [TRACKING],
        ...metadata,
      },
      spec: { containers: [{ name: 'main' }] },
      status: { phase: 'Running' },
      ...more,
    });
  }

  get current(): any {
    return this.of(Job).get('work', 'x');
  }

  get pods(): readonly any[] {
    return this.of(Pod).list('x');
  }

  get active(): readonly any[] {
    return this.pods.filter(({ metadata, status }) => !metadata.deletionTimestamp && !isOver(status.phase));
  }

  end(pod: any, phase: string): void {
    this.put(Pod, { ...pod, status: { phase } });
  }

  plan(): Plan {
    return planJob(this.current, this, new Date(this.now));
  }

  /** Plans and performs until nothing changes any more; each plan may be cut short. */
  settle(cut: (plan: Plan) => Plan = (plan) => plan): void {
    for (let round = 0; round < 60; round++) {
      const plan = this.plan().filter(changes);
      if (plan.length === 0) return;
      this.apply(cut(plan));
    }
    throw new Error('the plans do not come to an end');
  }

  has(type: string): boolean {
    return this.current.status.conditions?.some((each: any) => each.type === type && each.status === 'True') ?? false;
  }
}

const isOver = (phase: string) => phase === 'Succeeded' || phase === 'Failed';
const made = (plan: Plan) => plan.flatMap((action) => (action.type === 'create' ? [action.object as any] : []));

const anyJob = fc.record({
  isIndexed: fc.boolean(),
  completions: fc.integer({ min: 0, max: 6 }),
  parallelism: fc.integer({ min: 0, max: 4 }),
  backoffLimit: fc.integer({ min: 0, max: 4 }),
  perIndex: fc.option(fc.integer({ min: 0, max: 2 }), { nil: undefined }),
  waits: fc.boolean(),
});

/** Next event of the world: a pod succeeds, fails or is deleted, and how far the following plans get. */
const anyHappening = fc.record({
  what: fc.constantFrom('Succeeded', 'Failed', 'deleted', 'suspended'),
  which: fc.nat(),
  cuts: fc.array(fc.nat({ max: 6 }), { maxLength: 8 }),
});

const specOf = ({ isIndexed, waits, perIndex, ...spec }: any) => ({
  ...spec,
  podReplacementPolicy: waits ? 'Failed' : 'TerminatingOrFailed',
  completionMode: isIndexed ? 'Indexed' : 'NonIndexed',
  ...(isIndexed && perIndex !== undefined ? { backoffLimitPerIndex: perIndex, backoffLimit: 2 ** 31 - 1 } : {}),
});

describe('planJob', () => {
  it('counts every pod once wherever its plans are interrupted, never has too many pods, and finishes', () => {
    forAll({ numRuns: 150 }, anyJob, fc.array(anyHappening, { maxLength: 12 }), (drawn, happenings) => {
      const world = new World();
      const spec = specOf(drawn);
      world.job(spec);
      const ended = { Succeeded: new Set<string>(), Failed: new Set<string>() };
      const seen = (phase: 'Succeeded' | 'Failed') => {
        const { succeeded, failed } = world.current.status.uncountedTerminatedPods ?? {};
        const noted = (phase === 'Succeeded' ? succeeded : failed)?.length ?? 0;
        return (world.current.status[phase.toLowerCase()] ?? 0) + noted;
      };
      const check = () => {
        const { parallelism, completions } = spec;
        expect(world.active.length).toBeLessThanOrEqual(Math.min(parallelism, completions));
        const indexes = world.active.map(({ metadata }) => metadata.annotations?.[INDEX]);
        if (drawn.isIndexed) expect(new Set(indexes).size).toBe(indexes.length);
        else expect(seen('Succeeded')).toBeLessThanOrEqual(ended.Succeeded.size);
        // When a Job has failed, pods that it ends count as well.
        if (!world.has('FailureTarget')) expect(seen('Failed')).toBeLessThanOrEqual(ended.Failed.size);
      };
      for (const { what, which, cuts } of happenings) {
        // Every wait is over after this time.
        world.now += 700_000;
        const pod = world.active[which % Math.max(1, world.active.length)];
        if (what === 'suspended') {
          const { metadata, ...rest } = world.current;
          if (!world.has('Complete') && !world.has('Failed')) {
            world.put(Job, { ...rest, metadata, spec: { ...rest.spec, suspend: !rest.spec.suspend } });
          }
        } else if (pod && what === 'deleted') {
          if (pod.metadata.finalizers?.length) ended.Failed.add(pod.metadata.uid);
          world.delete(Pod, pod);
          const going = world.of(Pod).get(pod.metadata.name, 'x');
          if (drawn.waits && going) world.end(going, 'Failed');
        } else if (pod) {
          if (pod.metadata.finalizers?.length) ended[what as 'Succeeded' | 'Failed'].add(pod.metadata.uid);
          world.end(pod, what);
        }
        for (const cut of cuts) {
          world.apply(world.plan().filter(changes).slice(0, cut));
          check();
        }
      }
      if (world.current.spec.suspend) {
        const { suspend: _, ...rest } = world.current.spec;
        world.put(Job, { ...world.current, spec: rest });
      }
      for (let round = 0; round < 30 && !world.has('Complete') && !world.has('Failed'); round++) {
        world.now += 700_000;
        world.settle();
        check();
        if (world.has('Complete') || world.has('Failed')) break;
        if (spec.parallelism === 0) return;
        for (const pod of world.active) {
          ended.Succeeded.add(pod.metadata.uid);
          world.end(pod, 'Succeeded');
        }
      }
      expect(world.has('Complete') || world.has('Failed')).toBe(true);
      world.settle();
      expect(world.pods.filter(({ metadata }) => metadata.finalizers?.length)).toEqual([]);
      expect(world.active).toEqual([]);
      const { succeeded = 0, failed = 0, active, uncountedTerminatedPods } = world.current.status;
      expect([active, uncountedTerminatedPods]).toEqual([undefined, {}]);
      if (!drawn.isIndexed) expect(succeeded).toBe(ended.Succeeded.size);
      if (world.has('Complete')) expect(succeeded).toBeGreaterThanOrEqual(spec.completions);
      if (!world.has('Failed')) expect(failed).toBe(ended.Failed.size);
    });
  });

  it('never touches pods of another owner', () => {
    const world = new World();
    world.job({ parallelism: 0, completions: 1 });
    world.pod('other', { metadata: { ownerReferences: [{ ...owner('other'), kind: 'ReplicaSet', name: 'other' }] } });
    world.pod('alone', { metadata: { ownerReferences: [], labels: {}, finalizers: [] } });
    expect(world.plan().map(({ type }) => type)).toEqual(['updateStatus']);
  });

  it('records a UID before it removes the finalizer, and counts it after', () => {
    const world = new World();
    world.job({ completions: 2 });
    world.pod('p', { status: { phase: 'Succeeded' } });
    const plan = world.plan();
    const steps = plan.map(({ type }) => type);
    expect(steps.indexOf('updateStatus')).toBeLessThan(steps.indexOf('patch'));
    expect(status(plan).uncountedTerminatedPods).toEqual({ succeeded: ['p'] });
    expect(status(plan).succeeded).toBeUndefined();
    world.apply(plan.filter(changes));
    expect(status(world.plan())).toMatchObject({ succeeded: 1, uncountedTerminatedPods: {} });
  });

  it('limits the UIDs that it records in one plan', () => {
    const world = new World();
    world.job({ completions: 2000, parallelism: 0 });
    for (let i = 0; i < 1200; i++) world.pod(`p${i}`, { status: { phase: 'Succeeded' } });
    expect(status(world.plan()).uncountedTerminatedPods.succeeded).toHaveLength(500);
    world.settle();
    expect(world.current.status.succeeded).toBe(1200);
  });

  it('does not write the status ahead after a pod could not be created', () => {
    const world = new World();
    world.job({ parallelism: 3, completions: 3 });
    const [action] = world.plan();
    world.failures = [{ action, error: new Error('no room') }];
    const plan = world.plan();
    expect(plan[0]?.type).toBe('updateStatus');
    expect(status(plan).active).toBeUndefined();
    expect(made(plan)).toHaveLength(3);
  });

  it('counts pods that end with a failed Job, but not those that a success makes needless', () => {
    for (const [phases, failed] of [
      [['Failed', 'Failed', 'Running'], 3],
      [['Succeeded', 'Running', 'Running'], undefined],
    ] as const) {
      const world = new World();
      const successPolicy = { rules: [{ succeededCount: 1 }] };
      const spec = { completionMode: 'Indexed', completions: 3, parallelism: 3, backoffLimit: 1, successPolicy };
      world.job(spec);
      phases.forEach((phase, index) => {
        world.pod(`p${index}`, { metadata: { annotations: { [INDEX]: String(index) } }, status: { phase } });
      });
      world.settle();
      expect(world.current.status.failed).toBe(failed);
    }
  });

  it('continues to delete an untracked pod, although it is resumed meanwhile', () => {
    const world = new World();
    world.job({ completions: 1 });
    world.pod('p', { metadata: { finalizers: [] } });
    expect(deleted(world.plan())).toEqual(['p']);
    world.settle();
    expect(world.active.map(({ metadata }) => metadata.finalizers)).toEqual([[TRACKING]]);
  });

  it('removes pods that share an index or have none, and keeps the one that is furthest', () => {
    const world = new World();
    world.job({ completionMode: 'Indexed', completions: 2, parallelism: 2 });
    const at = (index: string, phase: string) => ({ metadata: { annotations: { [INDEX]: index } }, status: { phase } });
    world.pod('a', at('0', 'Running'));
    world.pod('b', at('0', 'Pending'));
    world.pod('c', at('7', 'Running'));
    world.pod('d', at('x', 'Running'));
    world.pod('e', at('1', 'Running'));
    expect(deleted(world.plan()).sort()).toEqual(['b', 'c', 'd']);
  });

  it('drops indexes when it is scaled down', () => {
    const world = new World();
    const completed = { status: { completedIndexes: '0-4', succeeded: 5, startTime: '2030-01-01T00:00:00Z' } };
    world.job({ completionMode: 'Indexed', completions: 3, parallelism: 3 }, completed);
    world.settle();
    expect(world.current.status).toMatchObject({ completedIndexes: '0-2', succeeded: 3 });
    expect(world.has('Complete')).toBe(true);
  });

  it('fails an index at once where its policy says FailIndex', () => {
    const world = new World();
    const rules = [{ action: 'FailIndex', onExitCodes: { operator: 'NotIn', values: [1] } }];
    const limits = { backoffLimitPerIndex: 3, backoffLimit: 2 ** 31 - 1, podFailurePolicy: { rules } };
    world.job({ completionMode: 'Indexed', completions: 2, parallelism: 2, ...limits });
    const ended = (exitCode: number) => ({
      phase: 'Failed',
      containerStatuses: [{ name: 'main', state: { terminated: { exitCode, finishedAt: '2030-01-01T00:00:00Z' } } }],
    });
    world.pod('a', { metadata: { annotations: { [INDEX]: '0' } }, status: ended(2) });
    world.pod('b', { metadata: { annotations: { [INDEX]: '1' } }, status: ended(1) });
    const plan = world.plan();
    expect(status(plan).failedIndexes).toBe('0');
    expect(made(plan).map(({ metadata }) => metadata.annotations)).toEqual([
      { [INDEX]: '1', 'batch.kubernetes.io/job-index-failure-count': '1' },
    ]);
  });

  it('keeps the last failed pod of an index until the next one exists', () => {
    const world = new World();
    world.job({ completionMode: 'Indexed', completions: 1, backoffLimitPerIndex: 2, backoffLimit: 2 ** 31 - 1 });
    world.pod('a', { metadata: { annotations: { [INDEX]: '0' } }, status: { phase: 'Failed' } });
    const plan = world.plan();
    expect(plan.some(({ type }) => type === 'patch')).toBe(false);
    expect(status(plan).failed).toBeUndefined();
    world.apply(plan.filter(changes));
    expect(status(world.plan()).uncountedTerminatedPods).toEqual({ failed: ['a'] });
  });

  it('untracks pods whose job is gone, finished or another, and not those of another controller', () => {
    const free = (plan: Plan) =>
      plan.flatMap((action) => (action.type === 'patch' ? [action.object.metadata.name] : []));
    const world = new World();
    world.pod('mine');
    world.pod('alone', { metadata: { ownerReferences: [] } });
    expect(free(world.plan()).sort()).toEqual(['alone', 'mine']);
    world.job({}, { status: { conditions: [{ type: 'Complete', status: 'True' }] } });
    world.pod('older', { metadata: { ownerReferences: [owner('before')] } });
    expect(free(world.plan()).sort()).toEqual(['alone', 'mine', 'older']);
    world.job({ managedBy: 'example.com/other' });
    expect(free(world.plan()).sort()).toEqual(['alone', 'older']);
  });

  it('truncates a name to leave room for its index', () => {
    const world = new World();
    const name = 'w'.repeat(63);
    const job = { ...world.job({ completionMode: 'Indexed', completions: 12, parallelism: 12 }) };
    const plan = planJob({ ...job, metadata: { ...job.metadata, name } }, world, new Date(start));
    expect(made(plan).map(({ metadata }) => metadata.generateName)).toContain(`${'w'.repeat(54)}-11-`);
  });
});

it('a Job that fails while it is suspended has a start time, which a finished Job needs', () => {
  const world = new World();
  world.job({ suspend: true, backoffLimit: 0 });
  world.pod('a', { status: { phase: 'Failed' } });
  world.settle();
  expect(world.current.status).toMatchObject({
    startTime: '2030-01-01T01:00:00Z',
    failed: 1,
    conditions: expect.arrayContaining([expect.objectContaining({ type: 'Failed', reason: 'BackoffLimitExceeded' })]),
  });
});

it('a suspended Job that has nothing to do completes without a start time', () => {
  const world = new World();
  world.job({ suspend: true, completions: 0 });
  world.settle();
  expect(world.current.status.conditions.map(({ type }: any) => type)).toContain('Complete');
  expect(world.current.status.startTime).toBeUndefined();
});

it('pods that cannot be deleted after the deadline are left to the back-off of the loop', () => {
  const world = new World();
  world.job({ activeDeadlineSeconds: 10 }, { status: { startTime: '2030-01-01T00:00:00Z' } });
  const pod = world.pod('a');
  world.failures = [{ action: { type: 'delete', kind: Pod, object: pod }, error: new Error('rejected') }];
  const plan = world.plan();
  expect(plan.map(({ type }) => type)).toContain('delete');
  expect(plan.filter(({ type }) => type === 'requeueAfter')).toEqual([]);
});
