/**
 * Starts the Jobs of a CronJob by its schedule. Parsing the schedule belongs to the kind; here is when a run is due
 * (next-run.ts), what is started (start.ts), and the history.
 */

import type { SeenCronJob, SeenJob } from '../../../api/seen-objects.ts';
import { timestamp } from '../../../base/time/timestamp.ts';
import { CronJob } from '../../../kinds/groups/batch/cron-job.ts';
import { Job } from '../../../kinds/groups/batch/job.ts';
import {
  type Controller,
  defineController,
  type Failure,
  type Listers,
  type ReadTools,
  type Snapshot,
} from '../../loop/define.ts';
import { type Action, changeStatus, event, type Plan } from '../../loop/plan.ts';
import { endOf, isFinished } from '../job/conditions.ts';
import { beyondHistory, referenceTo, removeJob, runOf, startOf } from './start.ts';

type Status = SeenCronJob['status'];
type World = Pick<Snapshot<Observed>, 'of' | 'observed' | 'failures'>;

interface Observed {
  /** The UIDs of active Jobs that are gone. */
  readonly gone: ReadonlySet<string>;
  /** Runs before this time are not started, in milliseconds. */
  readonly since: number;
}

export function cronJobController(): Controller {
  const memory = new ScheduleMemory();
  return defineController<CronJob, Observed>({
    name: 'cronjob',
    account: 'cronjob-controller',
    watches: CronJob,
    owns: [Job],
    observe: async (cronJob, world, { now, ...tools }) => {
      const key = `${world.key.namespace}/${world.key.name}`;
      if (!cronJob) {
        memory.forget(key);
        return { gone: new Set(), since: 0 };
      }
      const since = memory.note(key, cronJob, now.getTime());
      return { gone: await goneJobs(cronJob, world, tools), since };
    },
    plan: planCronJob,
  });
}

export function planCronJob(cronJob: SeenCronJob | undefined, world: World, now: Date): Plan {
  if (!cronJob) return [];
  const jobs = world.of(Job).controlledBy(cronJob.metadata.uid ?? '');
  const seen = statusFromJobs(cronJob, jobs, world.observed.gone);
  // If starting failed before, the status is not written with it, but ahead of it.
  const isRecorded = !world.failures.some(isAboutStart);
  const options = { of: world.of, since: world.observed.since, now: now.getTime(), isRecorded };
  const start = startOf(cronJob, seen.status, options);
  const outdated = cronJob.metadata.deletionTimestamp ? [] : beyondHistory(cronJob, jobs);
  const rest = [...seen.events, ...outdated.map((job) => removeJob(cronJob, job))];
  return isRecorded
    ? [...start.actions, ...(start.status ? changeStatus(CronJob, cronJob, start.status) : []), ...rest]
    : [...changeStatus(CronJob, cronJob, seen.status), ...rest, ...start.actions];
}

function isAboutStart({ action }: Failure): boolean {
  if (action?.type === 'delete') return action.kind === Job && !isFinished(action.object as SeenJob);
  return action?.type === 'create';
}

/** Updates the status from the Jobs, including those that were started and not recorded. */
function statusFromJobs(cronJob: SeenCronJob, jobs: readonly SeenJob[], gone: ReadonlySet<string>) {
  const say = (type: 'Normal' | 'Warning', reason: string, message: string) => event(cronJob, type, reason, message);
  const events: Action[] = [];
  const { active: before = [], lastScheduleTime, lastSuccessfulTime } = cronJob.status;
  const active = new Map(before.map((reference) => [reference.uid, reference]));
  let [lastRun, lastSuccess] = [lastScheduleTime, lastSuccessfulTime];
  for (const job of jobs) {
    const { name, uid, deletionTimestamp } = job.metadata;
    const outcome = endOf(job)?.type;
    const run = runOf(job, cronJob);
    if (run !== undefined) lastRun = later(lastRun, timestamp(run));
    if (outcome === 'Complete') lastSuccess = later(lastSuccess, job.status.completionTime);
    if (outcome) {
      const message = `Saw completed job: ${name}, condition: ${outcome}`;
      if (active.delete(uid)) events.push(say('Normal', 'SawCompletedJob', message));
    } else if (!active.has(uid) && !deletionTimestamp) {
      const message = `Saw a job that the controller did not create or forgot: ${name}`;
      if (run !== undefined) active.set(uid, referenceTo(job));
      else events.push(say('Warning', 'UnexpectedJob', message));
    }
  }
  for (const { uid = '', name } of before) {
    if (!gone.has(uid)) continue;
    active.delete(uid);
    events.push(say('Normal', 'MissingJob', `Active job went missing: ${name}`));
  }
  const status: Status = {
    active: active.size > 0 ? [...active.values()] : undefined,
    lastScheduleTime: lastRun,
    lastSuccessfulTime: lastSuccess,
  } as Status;
  return { status, events };
}

/** Timestamps have one format, so that their order is that of strings. */
function later(one: string | undefined, other: string | undefined): string | undefined {
  if (one === undefined || other === undefined) return one ?? other;
  return one < other ? other : one;
}

/** Returns the UIDs of active Jobs that are gone. The server is asked, because a cache may be behind the status. */
async function goneJobs(
  { status, metadata }: SeenCronJob,
  { of }: Listers,
  { client, signal }: ReadTools,
): Promise<ReadonlySet<string>> {
  const { namespace } = metadata;
  const gone = new Set<string>();
  for (const { name = '', uid = '' } of status.active ?? []) {
    if (of(Job).get(name, namespace)?.metadata.uid === uid) continue;
    const found = await client.of(Job).in(namespace).find(name, { signal });
    if (found?.metadata.uid !== uid) gone.add(uid);
  }
  return gone;
}

/** Remembers since when CronJobs have their schedule: earlier runs of a changed one are not started. */
export class ScheduleMemory {
  readonly #known = new Map<string, { readonly uid: unknown; readonly schedule: string; readonly since: number }>();

  /** Returns 0 when no change was seen. */
  note(key: string, { metadata, spec }: SeenCronJob, now: number): number {
    const { uid } = metadata;
    const schedule = `${spec.timeZone ?? ''} ${spec.schedule}`;
    const known = this.#known.get(key);
    if (known?.uid === uid && known?.schedule === schedule) return known.since;
    const since = known && known.uid === uid ? now : 0;
    this.#known.set(key, { uid, schedule, since });
    return since;
  }

  forget(key: string): void {
    this.#known.delete(key);
  }
}
