/** Counts the state of a Job from its status and its pods. */
import type { SeenJob, SeenPod } from '../../../api/seen-objects.ts';
import { isActive, isReady, isTerminating } from '../../shared/pods/pod-life.ts';
import { type Indexes, indexesOf } from './indexes.ts';
import { hasFailed, hasSucceeded, isCountable, isIndexed, judge } from './outcome.ts';
import { isTracked } from './tracking.ts';

export interface Tally {
  readonly job: SeenJob;
  readonly pods: readonly SeenPod[];
  readonly active: readonly SeenPod[];
  readonly ready: number;
  readonly terminating: number;
  /** Succeeded and failed pods, counted in the status or not. */
  readonly succeeded: number;
  readonly failed: number;
  readonly indexes: Indexes | undefined;
}

export function tallyOf(job: SeenJob, pods: readonly SeenPod[]): Tally {
  const { succeeded = 0, failed = 0, uncountedTerminatedPods: uncounted } = job.status;
  const noted = new Set([...(uncounted?.succeeded ?? []), ...(uncounted?.failed ?? [])]);
  const isNew = (pod: SeenPod) => isTracked(pod) && !noted.has(pod.metadata.uid ?? '') && isCountable(pod, job);
  const fresh = pods.filter(isNew);
  const failures = fresh.filter((pod) => hasFailed(pod, job) && judge(job.spec.podFailurePolicy, pod).counts);
  const active = pods.filter(isActive);
  const indexes = isIndexed(job) ? indexesOf(job, pods) : undefined;
  return {
    job,
    pods,
    active,
    ready: active.filter(isReady).length,
    terminating: pods.filter(isTerminating).length,
    succeeded:
      indexes?.succeeded.size ?? succeeded + (uncounted?.succeeded?.length ?? 0) + fresh.filter(hasSucceeded).length,
    failed: failed + (uncounted?.failed?.length ?? 0) + failures.length,
    indexes,
  };
}
