/** Decides whether a Job has ended, and how. Failures come first. */
import type { DeepReadonly } from '../../../api/object-types.ts';
import type { SeenJob } from '../../../api/seen-objects.ts';
import type { Job } from '../../../kinds/groups/batch/job.ts';
import type { Pod } from '../../../kinds/groups/core/pod/pod.ts';
import { trueRestarts } from '../../../kinds/groups/core/pod/status/restart-counts.ts';
import { decidedEnding, type Ending } from './conditions.ts';
import { IndexSet } from './index-set.ts';
import { hasFailed, judge } from './outcome.ts';
import type { Tally } from './tally.ts';

/** Returns the ending of a Job that ends whatever its pods still do. */
export function endingOf(tally: Tally, now: number): Ending | undefined {
  return decidedEnding(tally.job) ?? failureOf(tally, now) ?? earlySuccessOf(tally);
}

/** Returns success once all completions have succeeded; `active` pods are left. */
export function successOf({ job, succeeded }: Tally, active: number): Ending | undefined {
  const { completions = 1 } = job.spec;
  if (succeeded < completions || active > 0) return undefined;
  return {
    outcome: 'Complete',
    reason: 'CompletionsReached',
    message: 'Reached expected number of succeeded pods',
  };
}

/** Returns the deadline in milliseconds; a suspended Job has none. */
export function deadlineOf({ spec, status }: SeenJob, now: number): number | undefined {
  if (spec.activeDeadlineSeconds === undefined || spec.suspend) return undefined;
  // In whole seconds, as the start time will be written.
  const start = status.startTime ? Date.parse(status.startTime) : Math.floor(now / 1000) * 1000;
  return start + spec.activeDeadlineSeconds * 1000;
}

const failed = (reason: string, message: string): Ending => ({ outcome: 'Failed', reason, message });

function failureOf(tally: Tally, now: number): Ending | undefined {
  const { job, pods } = tally;
  const forbidden = failingPolicy(tally);
  if (forbidden !== undefined) return failed('PodFailurePolicy', forbidden);
  if (tally.failed > (job.spec.backoffLimit ?? 0) || isRestartedTooOften(job, pods)) {
    return failed('BackoffLimitExceeded', 'Job has reached the specified backoff limit');
  }
  if (now >= (deadlineOf(job, now) ?? Number.POSITIVE_INFINITY)) {
    return failed('DeadlineExceeded', 'Job was active longer than specified deadline');
  }
  return failedIndexes(tally);
}

function failingPolicy({ job, pods }: Tally): string | undefined {
  const { podFailurePolicy } = job.spec;
  if (!podFailurePolicy) return undefined;
  for (const pod of pods) {
    const message = hasFailed(pod, job) ? judge(podFailurePolicy, pod).failsJob : undefined;
    if (message !== undefined) return message;
  }
  return undefined;
}

/** Reports whether containers restarted too often. Where they restart in their pod, restarts count as failures. */
function isRestartedTooOften({ spec }: SeenJob, pods: readonly DeepReadonly<Pod>[]): boolean {
  if (spec.template.spec?.restartPolicy !== 'OnFailure') return false;
  let restarts = 0;
  for (const { metadata, status } of pods) {
    const { phase, containerStatuses = [], initContainerStatuses = [] } = status;
    if (phase !== 'Running' && phase !== 'Pending') continue;
    const counts = trueRestarts(metadata.annotations, [...initContainerStatuses, ...containerStatuses]);
    for (const count of counts) restarts += count;
  }
  return restarts >= Math.max(1, spec.backoffLimit ?? 0);
}

function failedIndexes({ job, indexes }: Tally): Ending | undefined {
  const failures = indexes?.failed?.size ?? 0;
  const { completions = 0, maxFailedIndexes = Number.POSITIVE_INFINITY } = job.spec;
  if (!indexes || failures === 0) return undefined;
  if (failures > maxFailedIndexes) {
    return failed('MaxFailedIndexesExceeded', 'Job has exceeded the specified maximal number of failed indexes');
  }
  return failures + indexes.succeeded.size >= completions
    ? failed('FailedIndexes', 'Job has failed indexes')
    : undefined;
}

function earlySuccessOf({ job, indexes }: Tally): Ending | undefined {
  const message = indexes && metRule(job, indexes.succeeded);
  return message === undefined ? undefined : { outcome: 'Complete', reason: 'SuccessPolicy', message };
}

function metRule({ spec }: DeepReadonly<Job>, succeeded: IndexSet): string | undefined {
  if (succeeded.size === 0) return undefined;
  const rules = spec.successPolicy?.rules ?? [];
  const index = rules.findIndex(({ succeededIndexes, succeededCount }) => {
    if (succeededIndexes === undefined) return succeeded.size >= (succeededCount ?? Number.POSITIVE_INFINITY);
    const wanted = IndexSet.parse(succeededIndexes, spec.completions ?? 0);
    return wanted.size > 0 && succeeded.inCommon(wanted) >= (succeededCount ?? wanted.size);
  });
  return index < 0 ? undefined : `Matched rules at index ${index}`;
}
