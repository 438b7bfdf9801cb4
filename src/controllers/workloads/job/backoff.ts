/** Back-off of a Job before new pods: it grows with every failure since the last success. */
import type { SeenJob, SeenPod } from '../../../api/seen-objects.ts';
import { finishedAt, hasFailed, hasSucceeded, isCountable } from './outcome.ts';
import { isTracked } from './tracking.ts';

const INITIAL_DELAY_MS = 10_000;
const MAX_DELAY_MS = 600_000;
/** Number of failures from which the delay is at its maximum. */
const MAX_COUNTED_FAILURES = 1 + Math.ceil(Math.log2(MAX_DELAY_MS / INITIAL_DELAY_MS));

/** Failures since the last success. */
export interface Failures {
  readonly count: number;
  /** The time of the last one, in milliseconds. */
  readonly last: number;
}

export const NO_FAILURES: Failures = { count: 0, last: 0 };

/** Returns how long new pods still have to wait, in milliseconds. */
export function waitAfter({ count, last }: Failures, now: number): number {
  if (count === 0) return 0;
  return Math.max(0, last + Math.min(MAX_DELAY_MS, INITIAL_DELAY_MS * 2 ** (count - 1)) - now);
}

interface Remembered {
  readonly uid: string | undefined;
  readonly lastSuccess: number;
  /** Times at which pods failed, by UID. */
  readonly failures: ReadonlyMap<string, number>;
}

/** Remembers recent failures, since deleted pods no longer show how they ended. A restart forgets them. */
export class FailureMemory {
  readonly #jobs = new Map<string, Remembered>();

  /** `key` is the Job's, `pods` its existing pods. */
  note(key: string, job: SeenJob, pods: readonly SeenPod[]): Failures {
    const { uid } = job.metadata;
    const before = this.#jobs.get(key);
    const known = before?.uid === uid ? before : undefined;
    let lastSuccess = known?.lastSuccess ?? 0;
    const failures = new Map(known?.failures);
    for (const pod of pods) {
      // Untracked pods were looked at before.
      if (known && !isTracked(pod)) continue;
      if (hasSucceeded(pod)) lastSuccess = Math.max(lastSuccess, finishedAt(pod));
      else if (isFailure(pod, job)) failures.set(pod.metadata.uid ?? '', finishedAt(pod));
    }
    const since = [...failures].filter(([, time]) => time > lastSuccess).sort((a, b) => b[1] - a[1]);
    const newest = since.slice(0, MAX_COUNTED_FAILURES);
    this.#jobs.set(key, { uid, lastSuccess, failures: new Map(newest) });
    return newest[0] ? { count: newest.length, last: newest[0][1] } : NO_FAILURES;
  }

  forget(key: string): void {
    this.#jobs.delete(key);
  }
}

/** A pod that the controller itself deleted is not a failure; it was untracked before. */
function isFailure(pod: SeenPod, job: SeenJob): boolean {
  if (!hasFailed(pod, job) || !isCountable(pod, job)) return false;
  return isTracked(pod) || pod.metadata.deletionTimestamp === undefined;
}
