/** How many pods of a Job there should be, and what makes it so many. */
import type { DeepReadonly } from '../../../client/object-types.ts';
import type { Job } from '../../../kinds/groups/batch/job.ts';
import { Pod } from '../../../kinds/groups/core/pod/pod.ts';
import { type Action, create, type Report, remove, told } from '../../loop/plan.ts';
import { firstToGo } from '../../shared/pods/deletion-order.ts';
import { type Failures, waitAfter } from './backoff.ts';
import { pendingIndexes, triesBefore } from './indexes.ts';
import { newIndexedPod, newJobPod } from './new-job-pod.ts';
import { completionIndex, finishedAt, isCountable, waitsForTheEnd } from './outcome.ts';
import type { Tally } from './tally.ts';
import { isTracked, untrack } from './tracking.ts';

type SeenJob = DeepReadonly<Job>;
type SeenPod = DeepReadonly<Pod>;

/** What is done to the pods, and what comes of it when all goes well. */
export interface Steps {
  readonly actions: readonly Action[];
  readonly created: number;
  readonly deleted: readonly SeenPod[];
  /** After so many milliseconds there may be more to do. */
  readonly again?: number;
}

export const NO_STEPS: Steps = { actions: [], created: 0, deleted: [] };

/** So many pods are created or deleted at a time; the rest waits for the next plan. */
const BURST = 500;

/** When the Job has come to its end nothing of it goes on. The pods stay until they are counted. */
export function endActive({ job, active }: Tally): Steps {
  return { ...NO_STEPS, deleted: active, actions: active.map((pod) => remove(Pod, pod, { report: removal(job) })) };
}

export function resize(tally: Tally, failures: Failures, now: number): Steps {
  const { job, active, terminating } = tally;
  const wanted = job.spec.suspend ? 0 : wantedActive(tally);
  const surplus = surplusOf(tally, { count: Math.max(0, active.length - wanted), now });
  // Never both in one plan, so that no pod is made in the place of one that is not gone.
  if (surplus.length > 0) return letGo(job, job.spec.suspend ? surplus : surplus.slice(0, BURST));
  const missing = wanted - active.length - (waitsForTheEnd(job) ? terminating : 0);
  if (missing <= 0) return NO_STEPS;
  const count = Math.min(missing, BURST);
  if (job.spec.backoffLimitPerIndex !== undefined) return growByIndex(tally, count, now);
  const again = waitAfter(failures, now);
  if (again > 0) return { ...NO_STEPS, again };
  return grow(tally, tally.indexes ? pendingIndexes(job, tally.pods, { indexes: tally.indexes, count }) : count);
}

/** Without a number of completions all go on until the first success; then whatever runs may end. */
function wantedActive({ job, active, succeeded }: Tally): number {
  const { completions, parallelism = 1 } = job.spec;
  if (completions === undefined) return succeeded > 0 ? active.length : parallelism;
  return Math.max(0, Math.min(parallelism, completions - succeeded));
}

/**
 * At least so many, and all that are of no use: whose end would not be counted, because they were let go of before or have
 * no index, and all but one of each index.
 */
function surplusOf(
  { job, active, indexes }: Tally,
  { count, now }: { readonly count: number; readonly now: number },
): readonly SeenPod[] {
  const choose = (pods: readonly SeenPod[], many: number) =>
    many > 0 ? firstToGo(pods, many, { related: [], now }) : [];
  const useless = new Set(active.filter((pod) => !isTracked(pod) || !isCountable(pod, job)));
  const useful = () => active.filter((pod) => !useless.has(pod));
  if (indexes) {
    for (const pods of byIndex(useful())) for (const pod of choose(pods, pods.length - 1)) useless.add(pod);
  }
  return [...useless, ...choose(useful(), count - useless.size)];
}

function byIndex(pods: readonly SeenPod[]): Iterable<readonly SeenPod[]> {
  const groups = new Map<number | undefined, SeenPod[]>();
  for (const pod of pods) {
    const index = completionIndex(pod);
    const group = groups.get(index);
    if (group) group.push(pod);
    else groups.set(index, [pod]);
  }
  return groups.values();
}

/** First the finalizers go, so that a pod that had to go is not taken for one that failed. */
function letGo(job: SeenJob, pods: readonly SeenPod[]): Steps {
  const removals = pods.map((pod) => remove(Pod, pod, { report: removal(job) }));
  return { ...NO_STEPS, deleted: pods, actions: [...pods.filter(isTracked).map(untrack), ...removals] };
}

/** Where failures are limited for each index, each waits for itself. */
function growByIndex(tally: Tally, count: number, now: number): Steps {
  const { job, pods, indexes } = tally;
  if (!indexes) return NO_STEPS;
  const waits = pendingIndexes(job, pods, { indexes, count }).map((index) => {
    const before = indexes.last.get(index);
    const failures = before && { count: triesBefore(before) + 1, last: finishedAt(before) };
    return { index, wait: failures ? waitAfter(failures, now) : 0 };
  });
  const ready = waits.filter(({ wait }) => wait === 0).map(({ index }) => index);
  const again = Math.min(...waits.map(({ wait }) => wait).filter((wait) => wait > 0));
  return { ...grow(tally, ready), ...(Number.isFinite(again) ? { again } : {}) };
}

/** Pods for these indexes, or so many pods. */
function grow({ job, indexes }: Tally, wanted: readonly number[] | number): Steps {
  const report = creation(job);
  if (typeof wanted !== 'number') {
    const pods = wanted.map((index) => newIndexedPod(job, index, indexes?.last.get(index)));
    return { ...NO_STEPS, created: pods.length, actions: pods.map((pod) => create(Pod, pod, report)) };
  }
  const pod = newJobPod(job);
  return { ...NO_STEPS, created: wanted, actions: Array.from({ length: wanted }, () => create(Pod, pod, report)) };
}

const creation = (job: SeenJob): Report => ({
  about: job,
  done: (name) => told('Normal', 'SuccessfulCreate', `Created pod: ${name}`),
  failed: ({ message }) => told('Warning', 'FailedCreate', `Error creating: ${message}`),
});

const removal = (job: SeenJob): Report => ({
  about: job,
  done: (name) => told('Normal', 'SuccessfulDelete', `Deleted pod: ${name}`),
  failed: ({ message }) => told('Warning', 'FailedDelete', `Error deleting: ${message}`),
});
