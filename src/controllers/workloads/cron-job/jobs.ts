/** The Jobs of a CronJob, recognized by name and annotation. */
import type { Draft } from '../../../api/object-types.ts';
import type { SeenCronJob, SeenJob } from '../../../api/seen-objects.ts';
import { CronJob } from '../../../kinds/groups/batch/cron-job.ts';
import { Job } from '../../../kinds/groups/batch/job.ts';
import { type Action, type EventReport, eventContent, remove } from '../../loop/plan.ts';
import { controllerReference } from '../../shared/ownership.ts';
import { endOf } from '../job/conditions.ts';
import { zoneOf } from './zoned-time.ts';

const SCHEDULED = 'batch.kubernetes.io/cronjob-scheduled-timestamp';
const MINUTE_MS = 60_000;

/** The name contains the minute of the run, so that a run cannot start twice. */
export const jobName = ({ metadata }: SeenCronJob, run: number): string =>
  `${metadata.name}-${Math.floor(run / MINUTE_MS)}`;

export function newJob(cronJob: SeenCronJob, run: number): Draft<Job> {
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
  const [startA, startB] = [startOf(a), startOf(b)];
  if (startA !== startB) return startA < startB ? -1 : 1;
  return (a.metadata.name ?? '') < (b.metadata.name ?? '') ? -1 : 1;
}

/** A Job that never started is the youngest. */
const startOf = ({ status }: SeenJob) => (status.startTime ? Date.parse(status.startTime) : Number.POSITIVE_INFINITY);
