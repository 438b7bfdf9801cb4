import { describe, expect, it } from 'vitest';
import { isChange as changes, PlannerWorld } from '../../../../test/support/planner-world.ts';
import { fc, forAll } from '../../../../test/support/property-runs.ts';
import type { KindRef } from '../../../api/object-types.ts';
import { CronJob } from '../../../kinds/groups/batch/cron-job.ts';
import { Job } from '../../../kinds/groups/batch/job.ts';
import type { Plan } from '../../loop/plan.ts';
import { planCronJob, ScheduleMemory } from './cron-job.ts';

const MINUTE_MS = 60_000;
const begin = Date.parse('2030-01-01T00:00:00Z');

class World extends PlannerWorld {
  failures: any[] = [];
  now = begin;
  /** Number of times each Job was created, by name. */
  readonly starts = new Map<string, number>();

  override put(kind: KindRef, object: any): any {
    const metadata = { creationTimestamp: new Date(this.now).toISOString(), ...object.metadata };
    if (kind === Job && !object.metadata.uid) {
      this.starts.set(metadata.name, (this.starts.get(metadata.name) ?? 0) + 1);
    }
    return super.put(kind, { status: {}, ...object, metadata });
  }

  cronJob(spec: object = {}, status: object = {}): any {
    return this.put(CronJob, {
      apiVersion: 'batch/v1',
      kind: 'CronJob',
      metadata: { name: 'tick', namespace: 'x', uid: 'cron' },
      spec: {
        schedule: '*/5 * * * *',
        concurrencyPolicy: 'Allow',
        suspend: false,
        successfulJobsHistoryLimit: 3,
        failedJobsHistoryLimit: 1,
        jobTemplate: { spec: { template: { spec: {} } } },
        ...spec,
      },
      status,
    });
  }

  get current(): any {
    return this.of(CronJob).get('tick', 'x');
  }

  get jobs(): readonly any[] {
    return this.of(Job).list('x');
  }

  get active(): readonly any[] {
    return this.jobs.filter(({ status }) => !status.conditions);
  }

  end(job: any, type: string): void {
    const time = new Date(this.now).toISOString();
    const completed = type === 'Complete' ? { completionTime: time } : {};
    this.put(Job, { ...job, status: { conditions: [{ type, status: 'True' }], startTime: time, ...completed } });
  }

  plan(): Plan {
    const known = new Set(this.jobs.map(({ metadata }) => metadata.uid));
    const active: readonly any[] = this.current.status.active ?? [];
    const gone = new Set(active.map(({ uid }) => uid).filter((uid) => !known.has(uid)));
    const world = { of: this.of, failures: this.failures, observed: { gone, since: 0 } };
    return planCronJob(this.current, world, new Date(this.now));
  }
}

/** The first actions of a plan; the last one is not followed by another. */
const beginningOf = (plan: Plan, count: number) =>
  plan
    .filter(changes)
    .slice(0, count)
    .map((action, index) => (index === count - 1 ? { ...action, followedBy: undefined } : action)) as Plan;
const wait = (plan: Plan) => plan.flatMap((action) => (action.type === 'requeueAfter' ? [action.milliseconds] : []))[0];
const eventReasons = (plan: Plan) => plan.flatMap((action) => (action.type === 'event' ? [action.reason] : []));

const anyHappening = fc.record({
  minutes: fc.constantFrom(0, 1, 4, 5, 6, 17),
  what: fc.constantFrom('nothing', 'Complete', 'Failed', 'deleted'),
  which: fc.nat(),
  cuts: fc.array(fc.nat({ max: 4 }), { maxLength: 5 }),
});

describe('planCronJob', () => {
  it('starts each run at most once wherever its plans are interrupted, and honors the concurrency policy', () => {
    const policies = fc.constantFrom('Allow', 'Forbid', 'Replace');
    const deadlines = fc.constantFrom(undefined, 0, 90, 1000);
    const happenings = fc.array(anyHappening, { maxLength: 15 });
    forAll({ numRuns: 100 }, policies, deadlines, happenings, (concurrencyPolicy, startingDeadlineSeconds, all) => {
      const world = new World();
      world.cronJob({
        concurrencyPolicy,
        ...(startingDeadlineSeconds === undefined ? {} : { startingDeadlineSeconds }),
      });
      const check = () => {
        expect([...world.starts.values()].every((times) => times === 1)).toBe(true);
        if (concurrencyPolicy !== 'Allow') expect(world.active.length).toBeLessThanOrEqual(1);
      };
      for (const { minutes, what, which, cuts } of all) {
        world.now += minutes * MINUTE_MS;
        const job = world.active[which % Math.max(1, world.active.length)];
        // A job that goes before it is noted was never there.
        const isNoted = world.current.status.active?.some(({ uid }: any) => uid === job?.metadata.uid);
        if (isNoted && what === 'deleted') world.delete(Job, job);
        else if (job && (what === 'Complete' || what === 'Failed')) world.end(job, what);
        for (const cut of cuts) {
          world.apply(beginningOf(world.plan(), cut));
          check();
        }
      }
      for (let round = 0; round < 10; round++) world.apply(world.plan().filter(changes));
      check();
      expect(world.plan().filter(changes)).toEqual([]);
      const { active = [] } = world.current.status;
      expect(active.map(({ uid }: any) => uid).sort()).toEqual(world.active.map(({ metadata }) => metadata.uid).sort());
      const ended = (type: string) => world.jobs.filter(({ status }) => status.conditions?.[0].type === type).length;
      expect([ended('Complete') <= 3, ended('Failed') <= 1]).toEqual([true, true]);
    });
  });

  it('plans again exactly when the next run is due', () => {
    const world = new World();
    world.cronJob();
    world.now += 61_234;
    expect(wait(world.plan())).toBe(5 * MINUTE_MS - 61_234);
    world.now = begin + 5 * MINUTE_MS;
    expect(wait(world.plan())).toBe(5 * MINUTE_MS);
  });

  it('does nothing while it is suspended or being deleted', () => {
    const world = new World();
    world.cronJob({ suspend: true });
    world.now += 60 * MINUTE_MS;
    expect(world.plan()).toEqual([]);
    const { metadata } = world.cronJob();
    world.put(CronJob, { ...world.current, metadata: { ...metadata, deletionTimestamp: '2030-01-01T00:00:00Z' } });
    expect(world.plan()).toEqual([]);
  });

  it('starts a run within its second even with a deadline of 0', () => {
    const world = new World();
    world.cronJob({ startingDeadlineSeconds: 0 });
    world.now = begin + 5 * MINUTE_MS + 999;
    expect(world.plan().some(({ type }) => type === 'create')).toBe(true);
    world.now = begin + 5 * MINUTE_MS + 1000;
    expect(world.plan().some(({ type }) => type === 'create')).toBe(false);
    expect(eventReasons(world.plan())).toEqual(['MissSchedule']);
  });

  it('reports a schedule that never runs, and one with a time zone inside', () => {
    const world = new World();
    world.cronJob({ schedule: '0 0 31 2 *' });
    expect(world.plan()).toMatchObject([
      {
        type: 'event',
        reason: 'InvalidSchedule',
        message: 'invalid schedule: 0 0 31 2 * : time difference between two schedules is less than 1 second',
      },
    ]);
    world.cronJob({ schedule: 'TZ=Asia/Tokyo 0 9 * * *' });
    expect(eventReasons(world.plan())).toEqual(['UnsupportedSchedule']);
    world.cronJob({ schedule: 'never' });
    expect(eventReasons(world.plan())).toEqual(['UnparseableSchedule']);
    world.cronJob({ timeZone: 'Nowhere' });
    expect(eventReasons(world.plan())).toEqual(['UnknownTimeZone']);
  });

  it('records the Job that it starts, and the time of the run, in one write', () => {
    const world = new World();
    world.cronJob();
    world.now = begin + 5 * MINUTE_MS;
    const plan = world.plan().filter(changes);
    expect(plan.map(({ type }) => type)).toEqual(['create']);
    world.apply(plan);
    const [job] = world.jobs;
    expect(world.current.status).toMatchObject({
      active: [{ name: job.metadata.name, uid: job.metadata.uid }],
      lastScheduleTime: '2030-01-01T00:05:00Z',
    });
    expect(world.plan().filter(changes)).toEqual([]);
  });

  it('updates its status from its Jobs although the next cannot be started', () => {
    const world = new World();
    world.cronJob();
    world.now = begin + 5 * MINUTE_MS;
    world.apply(world.plan().filter(changes));
    world.apply(world.plan().filter(changes));
    world.end(world.active[0], 'Complete');
    world.now = begin + 10 * MINUTE_MS;
    const action = world.plan().find(({ type }) => type === 'create');
    world.failures = [{ action, error: new Error('no room') }];
    const types = world.plan().map(({ type }) => type);
    expect(types.indexOf('updateStatus')).toBeLessThan(types.indexOf('create'));
    world.apply(world.plan().filter(({ type }) => type === 'updateStatus'));
    expect(world.current.status).toMatchObject({ lastScheduleTime: '2030-01-01T00:05:00Z' });
    expect(world.current.status.active).toBeUndefined();
  });
});

describe('the memory of schedules', () => {
  const cronJob = (schedule: string, uid = 'a') => ({ metadata: { uid }, spec: { schedule } }) as any;

  it('knows when a schedule was changed, and nothing from before it started', () => {
    const memory = new ScheduleMemory();
    expect(memory.note('x/tick', cronJob('@hourly'), 1)).toBe(0);
    expect(memory.note('x/tick', cronJob('@daily'), 2)).toBe(2);
    expect(memory.note('x/tick', cronJob('@daily'), 3)).toBe(2);
    expect(memory.note('x/tick', cronJob('@weekly', 'b'), 4)).toBe(0);
    memory.forget('x/tick');
    expect(memory.note('x/tick', cronJob('@monthly', 'b'), 5)).toBe(0);
  });
});
