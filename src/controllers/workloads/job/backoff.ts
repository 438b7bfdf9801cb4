/** How long a Job waits with new pods after failures: longer with every failure since the last success. */
import type { DeepReadonly } from '../../../client/object-types.ts';
import type { Job } from '../../../kinds/groups/batch/job.ts';
import type { Pod } from '../../../kinds/groups/core/pod/pod.ts';
import { finishedAt, hasFailed, hasSucceeded, isCountable } from './outcome.ts';
import { isTracked } from './tracking.ts';

type SeenJob = DeepReadonly<Job>;
type SeenPod = DeepReadonly<Pod>;

const FIRST = 10_000;
const LONGEST = 600_000;
/** From here on the wait does not grow any more. */
const ENOUGH = 1 + Math.ceil(Math.log2(LONGEST / FIRST));

/** Failures that no success came after. */
export interface Failures {
  readonly count: number;
  /** When the last one was, in milliseconds. */
  readonly last: number;
}

export const NO_FAILURES: Failures = { count: 0, last: 0 };

/** How long new pods have to wait still, in milliseconds. */
export function waitAfter({ count, last }: Failures, now: number): number {
  if (count === 0) return 0;
  return Math.max(0, last + Math.min(LONGEST, FIRST * 2 ** (count - 1)) - now);
}

interface Remembered {
  readonly uid: string | undefined;
  readonly lastSuccess: number;
  /** When pods failed, by their uid. */
  readonly failures: ReadonlyMap<string, number>;
}

/**
 * Pods that failed and were deleted do not show any more how they ended. So the last failures are remembered while the
 * program runs; after a restart those count that are still there.
 */
export class FailureMemory {
  readonly #jobs = new Map<string, Remembered>();

  /** `key` is the Job's, `pods` what is there of its pods. */
  note(key: string, job: SeenJob, pods: readonly SeenPod[]): Failures {
    const { uid } = job.metadata;
    const before = this.#jobs.get(key);
    const known = before?.uid === uid ? before : undefined;
    let lastSuccess = known?.lastSuccess ?? 0;
    const failures = new Map(known?.failures);
    for (const pod of pods) {
      // What is let go of was looked at before, by whoever let go of it.
      if (known && !isTracked(pod)) continue;
      if (hasSucceeded(pod)) lastSuccess = Math.max(lastSuccess, finishedAt(pod));
      else if (isFailure(pod, job)) failures.set(pod.metadata.uid ?? '', finishedAt(pod));
    }
    const since = [...failures].filter(([, time]) => time > lastSuccess).sort((a, b) => b[1] - a[1]);
    const newest = since.slice(0, ENOUGH);
    this.#jobs.set(key, { uid, lastSuccess, failures: new Map(newest) });
    return newest[0] ? { count: newest.length, last: newest[0][1] } : NO_FAILURES;
  }

  forget(key: string): void {
    this.#jobs.delete(key);
  }
}

/** A pod that the controller itself deleted is no failure; it had let go of it before. */
function isFailure(pod: SeenPod, job: SeenJob): boolean {
  if (!hasFailed(pod, job) || !isCountable(pod, job)) return false;
  return isTracked(pod) || pod.metadata.deletionTimestamp === undefined;
}
