/** The indexes of an indexed Job: which have succeeded, which have failed for good, and which are to be retried. */
import type { SeenJob, SeenPod } from '../../../api/seen-objects.ts';
import { isActive, isTerminating } from '../../shared/pods/pod-life.ts';
import { IndexSet } from './index-set.ts';
import { completionIndex, finishedAt, hasFailed, hasSucceeded, isCountable, judge, waitsForTheEnd } from './outcome.ts';
import { isTracked } from './tracking.ts';

const FAILURES = 'batch.kubernetes.io/job-index-failure-count';
const IGNORED_FAILURES = 'batch.kubernetes.io/job-index-ignored-failure-count';
const MAX_INT32 = 2 ** 31 - 1;

export interface Indexes {
  readonly succeeded: IndexSet;
  /** Failed indexes, when failures are limited for each index. */
  readonly failed: IndexSet | undefined;
  /**
   * The last pod of each index to be retried, where failures are limited for each index. It stays until the next pod exists,
   * which carries on the number of failures.
   */
  readonly last: ReadonlyMap<number, SeenPod>;
}

export function indexesOf(job: SeenJob, pods: readonly SeenPod[]): Indexes {
  const { backoffLimitPerIndex } = job.spec;
  const { completed, failed: failedBefore } = countedIndexes(job);
  const tracked = pods.filter((pod) => isTracked(pod) && isCountable(pod, job));
  const succeeded = completed.with(indexesIn(tracked.filter(hasSucceeded)));
  if (backoffLimitPerIndex === undefined) return { succeeded, failed: undefined, last: new Map() };
  const newlyFailed = tracked.filter((pod) => hasFailed(pod, job) && failsIndex(pod, job, backoffLimitPerIndex));
  // An index that has succeeded cannot have failed, even if a second pod of it did.
  const failing = newlyFailed.filter((pod) => !succeeded.has(completionIndex(pod) ?? 0));
  const failed = failedBefore.with(indexesIn(failing));
  const settled = succeeded.with(failed).with(indexesIn(pods.filter(isActive)));
  return {
    succeeded,
    failed,
    last: lastOf(
      tracked.filter((pod) => hasFailed(pod, job)),
      settled,
    ),
  };
}

interface Counted {
  readonly below: number;
  readonly completed: IndexSet;
  readonly failed: IndexSet;
}

/** Cache by status: many plans see the same one, and a client may have written megabytes of indexes. */
const counted = new WeakMap<SeenJob['status'], Counted>();

/** The indexes that the status names. */
export function countedIndexes({ spec, status }: SeenJob): Counted {
  const { completions: below = 0 } = spec;
  let known = counted.get(status);
  if (known?.below !== below) {
    const { completedIndexes, failedIndexes } = status;
    known = {
      below,
      completed: IndexSet.parse(completedIndexes, below),
      failed: IndexSet.parse(failedIndexes, below),
    };
    counted.set(status, known);
  }
  return known;
}

function indexesIn(pods: readonly SeenPod[]): IndexSet {
  return IndexSet.of(pods.flatMap((pod) => completionIndex(pod) ?? []));
}

function failsIndex(pod: SeenPod, { spec }: SeenJob, limit: number): boolean {
  const judgement = judge(spec.podFailurePolicy, pod);
  return judgement.failsIndex || (judgement.counts && noted(pod, FAILURES) >= limit);
}

function lastOf(failed: readonly SeenPod[], settled: IndexSet): ReadonlyMap<number, SeenPod> {
  const last = new Map<number, SeenPod>();
  for (const pod of failed) {
    const index = completionIndex(pod) as number;
    if (settled.has(index)) continue;
    const other = last.get(index);
    const isLater = !other || (triesBefore(other) <= triesBefore(pod) && finishedAt(other) <= finishedAt(pod));
    if (isLater) last.set(index, pod);
  }
  return last;
}

/** Returns the first `count` indexes that need a pod. */
export function pendingIndexes(
  job: SeenJob,
  pods: readonly SeenPod[],
  { indexes, count }: { readonly indexes: Indexes; readonly count: number },
): readonly number[] {
  const { succeeded, failed } = indexes;
  const isTaken = (pod: SeenPod) => isActive(pod) || (waitsForTheEnd(job) && isTerminating(pod));
  const taken = succeeded.with(indexesIn(pods.filter(isTaken)));
  return (failed ? taken.with(failed) : taken).firstMissing(count, job.spec.completions ?? 0);
}

/** Number of pods of its index that failed before this one. */
export const triesBefore = (pod: SeenPod): number => noted(pod, FAILURES) + noted(pod, IGNORED_FAILURES);

/** The failure counts that the next pod of the index carries on. */
export function failureCounts({ spec }: SeenJob, before: SeenPod | undefined): Readonly<Record<string, string>> {
  if (!before) return { [FAILURES]: '0' };
  const counts = judge(spec.podFailurePolicy, before).counts;
  const failures = noted(before, FAILURES) + (counts ? 1 : 0);
  const ignored = noted(before, IGNORED_FAILURES) + (counts ? 0 : 1);
  return { [FAILURES]: String(failures), ...(ignored > 0 ? { [IGNORED_FAILURES]: String(ignored) } : {}) };
}

function noted({ metadata }: SeenPod, annotation: string): number {
  const text = metadata.annotations?.[annotation] ?? '';
  return /^\d+$/.test(text) && Number(text) <= MAX_INT32 ? Number(text) : 0;
}
