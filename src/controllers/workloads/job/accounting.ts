/** Accounts for ended pods: which are recorded, counted and released. See tracking.ts. */
import type { SeenPod } from '../../../api/seen-objects.ts';
import type { Ending } from './conditions.ts';
import { completionIndex, hasFailed, hasSucceeded, isCountable, judge } from './outcome.ts';
import type { Tally } from './tally.ts';
import { isTracked } from './tracking.ts';

/** Number of UIDs that one plan records, which limits the size of the status. */
const MAX_UIDS_PER_PLAN = 500;

export interface Account {
  /** Number of succeeded pods of a Job that is not indexed. */
  readonly succeeded: number;
  readonly failed: number;
  readonly noted: { readonly succeeded: readonly string[]; readonly failed: readonly string[] };
  /** Pods to untrack once their UIDs are written. */
  readonly settled: readonly SeenPod[];
}

export interface AccountOptions {
  readonly ending: Ending | undefined;
  /** Pods that are untracked without being counted. */
  readonly exempt: readonly SeenPod[];
}

export function accountOf(tally: Tally, { ending, exempt }: AccountOptions): Account {
  const { job, pods, indexes } = tally;
  const { succeeded = 0, failed = 0, uncountedTerminatedPods: uncounted = {} } = job.status;
  const left = new Set(exempt);
  const tracked = pods.filter((pod) => isTracked(pod) && !left.has(pod));
  const uids = new Set(tracked.map(({ metadata }) => metadata.uid));
  const successes = uncounted.succeeded?.filter((uid) => uids.has(uid)) ?? [];
  const failures = uncounted.failed?.filter((uid) => uids.has(uid)) ?? [];
  const counted = {
    succeeded: succeeded + (uncounted.succeeded?.length ?? 0) - successes.length,
    failed: failed + (uncounted.failed?.length ?? 0) - failures.length,
  };
  const known = new Set([...successes, ...failures]);
  const settled: SeenPod[] = [];
  // An indexed Job records the indexes that succeeded instead.
  let newIndexes = 0;
  for (const pod of indexes ? byIndex(tracked) : tracked) {
    if (successes.length + failures.length + newIndexes >= MAX_UIDS_PER_PLAN) break;
    if (!isSettled(pod, tally, ending)) continue;
    settled.push(pod);
    const uid = pod.metadata.uid ?? '';
    if (known.has(uid) || !isCountable(pod, job)) continue;
    if (!hasSucceeded(pod)) {
      if (isFailure(pod, tally, ending)) failures.push(uid);
    } else if (indexes) newIndexes++;
    else successes.push(uid);
  }
  return { ...counted, noted: { succeeded: successes, failed: failures }, settled };
}

const byIndex = (pods: readonly SeenPod[]) =>
  pods.toSorted((a, b) => (completionIndex(a) ?? -1) - (completionIndex(b) ?? -1));

/** Reports whether the outcome of the pod is final. */
function isSettled(pod: SeenPod, { job, indexes }: Tally, ending: Ending | undefined): boolean {
  if (job.metadata.deletionTimestamp || ending || hasSucceeded(pod)) return true;
  return hasFailed(pod, job) && indexes?.last.get(completionIndex(pod) ?? -1) !== pod;
}

/** Reports whether the pod counts as failed. When a Job fails, the pods that it deletes have failed with it. */
function isFailure(pod: SeenPod, { job }: Tally, ending: Ending | undefined): boolean {
  return (hasFailed(pod, job) || ending?.outcome === 'Failed') && judge(job.spec.podFailurePolicy, pod).counts;
}
