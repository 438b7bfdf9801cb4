/** Starts the run of a CronJob that is due. */

import type { DeepReadonly, Draft } from '../../../api/object-types.ts';
import type { SeenCronJob, SeenJob } from '../../../api/seen-objects.ts';
import { timestamp } from '../../../base/time/timestamp.ts';
import { CronJob } from '../../../kinds/groups/batch/cron-job.ts';
import { isTimeZone, parseCronSchedule } from '../../../kinds/groups/batch/cron-schedule.ts';
import { Job } from '../../../kinds/groups/batch/job.ts';
import type { Listers } from '../../loop/define.ts';
import {
  type Action,
  create,
  createFollowed,
  type EventReport,
  event,
  eventContent,
  remove,
  requeueAfter,
  updateStatus,
} from '../../loop/plan.ts';
import { controllerReference } from '../../shared/ownership.ts';
import { endOf } from '../job/conditions.ts';
import { type Due, dueRun, nextRun, zoneOf } from './next-run.ts';

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

const SCHEDULED = 'batch.kubernetes.io/cronjob-scheduled-timestamp';
const MINUTE_MS = 60_000;

/** The name contains the minute of the run, so that a run cannot start twice. */
const jobName = ({ metadata }: SeenCronJob, run: number): string => `${metadata.name}-${Math.floor(run / MINUTE_MS)}`;

function newJob(cronJob: SeenCronJob, run: number): Draft<Job> {
  const { jobTemplate, timeZone = 'UTC' } = cronJob.spec;
  const { labels, annotations } = jobTemplate.metadata ?? {};
  return {
    metadata: {
      name: jobName(cronJob, run),
      namespace: cronJob.metadata.namespace,
      labels,
      annotations: { ...annotations, [SCHEDULED]: zoneOf(timeZone).format(run) },
      ownerReferences: [controllerReference(cronJob, CronJob)],
    },
    spec: jobTemplate.spec,
  } as unknown as Draft<Job>;
}

/** Returns the run that the CronJob started the Job for; undefined for other Jobs. */
export function runOf(job: SeenJob, cronJob: SeenCronJob): number | undefined {
  const run = Date.parse(job.metadata.annotations?.[SCHEDULED] ?? '');
  return job.metadata.name === jobName(cronJob, run) ? run : undefined;
}

export const referenceTo = ({ metadata }: SeenJob) => ({
  apiVersion: Job.hub.apiVersion,
  kind: Job.kind,
  name: metadata.name,
  namespace: metadata.namespace,
  uid: metadata.uid,
  resourceVersion: metadata.resourceVersion,
});

/** Deletes the Job with its pods. */
export function removeJob(cronJob: SeenCronJob, job: SeenJob): Action {
  const report: EventReport = {
    about: cronJob,
    done: (name) => eventContent('Normal', 'SuccessfulDelete', `Deleted job ${name}`),
    failed: ({ message }) => eventContent('Warning', 'FailedDelete', `Deleted job: ${message}`),
  };
  return remove(Job, job, { propagationPolicy: 'Background', report });
}

/** Returns finished Jobs beyond the history limits, the oldest first. Without a limit, all are kept. */
export function beyondHistory({ spec }: SeenCronJob, jobs: readonly SeenJob[]): readonly SeenJob[] {
  const ended = (outcome: 'Complete' | 'Failed') => jobs.filter((job) => endOf(job)?.type === outcome).sort(byStart);
  return [
    ...oldest(ended('Complete'), spec.successfulJobsHistoryLimit),
    ...oldest(ended('Failed'), spec.failedJobsHistoryLimit),
  ].filter(({ metadata }) => !metadata.deletionTimestamp);
}

const oldest = (jobs: readonly SeenJob[], kept = Number.POSITIVE_INFINITY) =>
  jobs.slice(0, Math.max(0, jobs.length - kept));

function byStart(a: SeenJob, b: SeenJob): number {
  const [startA, startB] = [startTimeOf(a), startTimeOf(b)];
  if (startA !== startB) return startA < startB ? -1 : 1;
  return (a.metadata.name ?? '') < (b.metadata.name ?? '') ? -1 : 1;
}

/** A Job that never started is the youngest. */
const startTimeOf = ({ status }: SeenJob) =>
  status.startTime ? Date.parse(status.startTime) : Number.POSITIVE_INFINITY;
