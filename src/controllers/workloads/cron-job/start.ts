/** Starts the run of a CronJob that is due. */

import type { DeepReadonly, Draft } from '../../../api/object-types.ts';
import type { SeenCronJob } from '../../../api/seen-objects.ts';
import { timestamp } from '../../../base/time/timestamp.ts';
import { CronJob } from '../../../kinds/groups/batch/cron-job.ts';
import { isTimeZone, parseCronSchedule } from '../../../kinds/groups/batch/cron-schedule.ts';
import { Job } from '../../../kinds/groups/batch/job.ts';
import type { Listers } from '../../loop/define.ts';
import {
  type Action,
  create,
  createFollowed,
  event,
  eventContent,
  requeueAfter,
  updateStatus,
} from '../../loop/plan.ts';
import { type Due, dueRun } from './due.ts';
import { jobName, newJob, referenceTo, removeJob } from './jobs.ts';
import { nextRun } from './next-run.ts';

type Status = SeenCronJob['status'];

/** Number of missed runs from which they are reported. */
const MAX_SILENT_MISSES = 100;

export interface StartOptions {
  readonly of: Listers['of'];
  /** Runs before this time are not started, in milliseconds. */
  readonly since: number;
  readonly now: number;
  /** True to record the started Job at once, in the status of the CronJob as it is now. */
  readonly isRecorded: boolean;
}

interface StartPlan {
  readonly actions: readonly Action[];
  /** The status if the actions succeed; undefined where they write it. */
  readonly status: Status | undefined;
}

/** Starts the run that is due, and plans again for the next one. */
export function startOf(cronJob: SeenCronJob, status: Status, options: StartOptions): StartPlan {
  const { spec, metadata } = cronJob;
  const nothing = (...actions: readonly Action[]): StartPlan => ({ actions, status });
  const warn = (reason: string, message: string) => event(cronJob, 'Warning', reason, message);
  if (metadata.deletionTimestamp) return nothing();
  const { schedule, timeZone = 'UTC' } = spec;
  if (!isTimeZone(timeZone)) {
    return nothing(warn('UnknownTimeZone', `invalid timeZone: "${timeZone}": unknown time zone ${timeZone}`));
  }
  if (spec.suspend) return nothing();
  const parsed = parseCronSchedule(schedule);
  if ('error' in parsed) {
    return nothing(warn('UnparseableSchedule', `unparseable schedule: "${schedule}" : ${parsed.error}`));
  }
  const { of, now } = options;
  const last = Date.parse(status.lastScheduleTime ?? metadata.creationTimestamp ?? '');
  const deadline = deadlineOf(cronJob, now);
  const window = { since: Math.max(last, options.since), deadline, now };
  const due = dueRun((after) => nextRun(parsed, after, timeZone), window);
  if (!due) {
    const message = `invalid schedule: ${schedule} : time difference between two schedules is less than 1 second`;
    return nothing(warn('InvalidSchedule', message));
  }
  const more = 'see https://kubernetes.io/docs/concepts/workloads/controllers/cron-jobs/ for more details';
  const zoned = `CRON_TZ or TZ used in schedule "${schedule}" is not officially supported, ${more}`;
  const warnings = schedule.includes('TZ') ? [warn('UnsupportedSchedule', zoned)] : [];
  const again = Number.isFinite(due.next) ? [requeueAfter(due.next - now)] : [];
  const run = runDue(cronJob, status, { due, deadline, of, isRecorded: options.isRecorded });
  return { status: run.status, actions: [...warnings, ...run.actions, ...again] };
}

/** Runs due before this may not start any more. Within its second, a run is never late. */
function deadlineOf({ spec }: SeenCronJob, now: number): number {
  const { startingDeadlineSeconds } = spec;
  if (startingDeadlineSeconds === undefined) return Number.NEGATIVE_INFINITY;
  return (Math.floor(now / 1000) - startingDeadlineSeconds) * 1000;
}

interface Circumstances {
  readonly due: Due;
  readonly deadline: number;
  readonly of: Listers['of'];
  readonly isRecorded: boolean;
}

function runDue(cronJob: SeenCronJob, status: Status, circumstances: Circumstances): StartPlan {
  const { due, deadline, of, isRecorded } = circumstances;
  const { namespace } = cronJob.metadata;
  const { run, missed } = due;
  const warn = (reason: string, message: string) => event(cronJob, 'Warning', reason, message);
  if (run === undefined) return { actions: [], status };
  if (run < deadline) {
    const time = new Date(run).toUTCString().replace('GMT', '+0000');
    return { status, actions: [warn('MissSchedule', `Missed scheduled time to start a job: ${time}`)] };
  }
  const warning =
    missed > MAX_SILENT_MISSES
      ? 'too many missed start times. Set or decrease .spec.startingDeadlineSeconds or check clock skew'
      : undefined;
  const warnings = warning === undefined ? [] : [warn('TooManyMissedTimes', warning)];
  // A Job of this name means that the run was started.
  if (of(Job).get(jobName(cronJob, run), namespace)) return { status, actions: warnings };
  const { active = [] } = status;
  if (cronJob.spec.concurrencyPolicy === 'Forbid' && active.length > 0) {
    const message = 'Not starting job because prior execution is running and concurrency policy is Forbid';
    return { status, actions: [...warnings, event(cronJob, 'Normal', 'JobAlreadyActive', message)] };
  }
  const isReplacing = cronJob.spec.concurrencyPolicy === 'Replace';
  const replaced = isReplacing ? active.flatMap(({ name = '' }) => of(Job).get(name, namespace) ?? []) : [];
  const report = {
    about: cronJob,
    done: (name: string) => eventContent('Normal', 'SuccessfulCreate', `Created job ${name}`),
    failed: ({ message }: Error) => eventContent('Warning', 'FailedCreate', `Error creating job: ${message}`),
  };
  const job = newJob(cronJob, run);
  const record = (created: DeepReadonly<Job>) => {
    const now = [...(isReplacing ? [] : active), referenceTo(created)];
    const next = { ...status, active: now, lastScheduleTime: timestamp(run) };
    return updateStatus(CronJob, { ...cronJob, status: next } as unknown as Draft<CronJob>);
  };
  return {
    status: undefined,
    actions: [
      ...warnings,
      ...replaced.map((each) => removeJob(cronJob, each)),
      isRecorded ? createFollowed(Job, job, { report, followedBy: record }) : create(Job, job, report),
    ],
  };
}
