/** Plans the number of pods of a Job, and the actions to reach it. */

import type { DeepReadonly, Draft } from '../../../api/object-types.ts';
import type { SeenJob, SeenPod } from '../../../api/seen-objects.ts';
import { groupBy } from '../../../base/collections/group-by.ts';
import { Job } from '../../../kinds/groups/batch/job.ts';
import { Pod } from '../../../kinds/groups/core/pod/pod.ts';
import type { Listers } from '../../loop/define.ts';
import { type Action, create, remove } from '../../loop/plan.ts';
import { ROOM_CHECK_MS, roomForPods } from '../../shared/pods/creation-limit.ts';
import { firstToGo } from '../../shared/pods/deletion-order.ts';
import { creationReport, deletionReport, newPod } from '../../shared/pods/new-pod.ts';
import { type Failures, waitAfter } from './backoff.ts';
import { failureCounts, pendingIndexes, triesBefore } from './indexes.ts';
import { COMPLETION_INDEX, completionIndex, finishedAt, isCountable, waitsForTheEnd } from './outcome.ts';
import type { Tally } from './tally.ts';
import { isTracked, TRACKING, untrack } from './tracking.ts';

/** The actions on pods, and their result if they succeed. */
export interface Steps {
  readonly actions: readonly Action[];
  readonly created: number;
  readonly deleted: readonly SeenPod[];
  /** Delay before planning again, in milliseconds. */
  readonly requeueAfterMs?: number;
}

export interface SizingContext {
  readonly failures: Failures;
  readonly now: number;
  readonly world: Listers;
}

export const NO_STEPS: Steps = { actions: [], created: 0, deleted: [] };

const MAX_PODS_PER_PLAN = 500;

/** Deletes active pods of a finished Job. They stay until they are counted. */
export function endActive({ job, active }: Tally): Steps {
  return {
    ...NO_STEPS,
    deleted: active,
    actions: active.map((pod) => remove(Pod, pod, { report: deletionReport(job) })),
  };
}

export function resize(tally: Tally, { failures, now, world }: SizingContext): Steps {
  const { job, active, terminating } = tally;
  const wanted = job.spec.suspend ? 0 : wantedActive(tally);
  const surplus = surplusOf(tally, { count: Math.max(0, active.length - wanted), now });
  // Never both in one plan, so that no pod replaces one that is not gone.
  if (surplus.length > 0) return deleteUntracked(job, job.spec.suspend ? surplus : surplus.slice(0, MAX_PODS_PER_PLAN));
  const missing = wanted - active.length - (waitsForTheEnd(job) ? terminating : 0);
  if (missing <= 0) return NO_STEPS;
  const count = Math.min(missing, MAX_PODS_PER_PLAN, roomForPods(job.spec.template, job.metadata.namespace, world));
  const steps = growBy(tally, count, { failures, now });
  if (count === Math.min(missing, MAX_PODS_PER_PLAN)) return steps;
  return { ...steps, requeueAfterMs: Math.min(steps.requeueAfterMs ?? ROOM_CHECK_MS, ROOM_CHECK_MS) };
}

function growBy(
  tally: Tally,
  count: number,
  { failures, now }: { readonly failures: Failures; readonly now: number },
): Steps {
  const { job } = tally;
  if (count === 0) return NO_STEPS;
  if (job.spec.backoffLimitPerIndex !== undefined) return growByIndex(tally, count, now);
  const requeueAfterMs = waitAfter(failures, now);
  if (requeueAfterMs > 0) return { ...NO_STEPS, requeueAfterMs };
  return grow(tally, tally.indexes ? pendingIndexes(job, tally.pods, { indexes: tally.indexes, count }) : count);
}

/** Returns the number of active pods. Without completions, those that run may finish after the first success. */
function wantedActive({ job, active, succeeded }: Tally): number {
  const { completions, parallelism = 1 } = job.spec;
  if (completions === undefined) return succeeded > 0 ? active.length : parallelism;
  return Math.max(0, Math.min(parallelism, completions - succeeded));
}

/** Returns at least `count` pods, and all useless ones: their end would not be counted, or they share an index. */
function surplusOf(
  { job, active, indexes }: Tally,
  { count, now }: { readonly count: number; readonly now: number },
): readonly SeenPod[] {
  const choose = (pods: readonly SeenPod[], many: number) =>
    many > 0 ? firstToGo(pods, many, { related: [], now }) : [];
  const useless = new Set(active.filter((pod) => !isTracked(pod) || !isCountable(pod, job)));
  const useful = () => active.filter((pod) => !useless.has(pod));
  if (indexes) {
    for (const pods of groupBy(useful(), completionIndex).values())
      for (const pod of choose(pods, pods.length - 1)) useless.add(pod);
  }
  return [...useless, ...choose(useful(), count - useless.size)];
}

/** First the finalizers are removed, so that a deleted pod does not count as failed. */
function deleteUntracked(job: SeenJob, pods: readonly SeenPod[]): Steps {
  const removals = pods.map((pod) => remove(Pod, pod, { report: deletionReport(job) }));
  return { ...NO_STEPS, deleted: pods, actions: [...pods.filter(isTracked).map(untrack), ...removals] };
}

/** Adds pods for pending indexes; each index has its own back-off when failures are limited for each index. */
function growByIndex(tally: Tally, count: number, now: number): Steps {
  const { job, pods, indexes } = tally;
  if (!indexes) return NO_STEPS;
  const waits = pendingIndexes(job, pods, { indexes, count }).map((index) => {
    const before = indexes.last.get(index);
    const failures = before && { count: triesBefore(before) + 1, last: finishedAt(before) };
    return { index, wait: failures ? waitAfter(failures, now) : 0 };
  });
  const ready = waits.filter(({ wait }) => wait === 0).map(({ index }) => index);
  const requeueAfterMs = Math.min(...waits.map(({ wait }) => wait).filter((wait) => wait > 0));
  return { ...grow(tally, ready), requeueAfterMs: Number.isFinite(requeueAfterMs) ? requeueAfterMs : undefined };
}

/** Creates pods for these indexes, or this number of pods. */
function grow({ job, indexes }: Tally, wanted: readonly number[] | number): Steps {
  const report = creationReport(job);
  if (typeof wanted !== 'number') {
    const pods = wanted.map((index) => newIndexedPod(job, index, indexes?.last.get(index)));
    return { ...NO_STEPS, created: pods.length, actions: pods.map((pod) => create(Pod, pod, report)) };
  }
  const pod = newJobPod(job);
  return { ...NO_STEPS, created: wanted, actions: Array.from({ length: wanted }, () => create(Pod, pod, report)) };
}

const INDEX_VARIABLE = 'JOB_COMPLETION_INDEX';

/** The maximum length of a name to which the server adds a suffix. */
const MAX_PREFIX_LENGTH = 58;

function newJobPod(job: SeenJob): Draft<Pod> {
  const pod: any = newPod(job, Job, job.spec.template as any);
  const finalizers = new Set([...(pod.metadata.finalizers ?? []), TRACKING]);
  return { ...pod, metadata: { ...pod.metadata, finalizers: [...finalizers] } };
}

/** `before`: the failed pod of the same index, where failures are limited for each index. */
function newIndexedPod(job: SeenJob, index: number, before: DeepReadonly<Pod> | undefined): Draft<Pod> {
  const { metadata, spec }: any = newJobPod(job);
  const isCounted = job.spec.backoffLimitPerIndex !== undefined;
  const counts = isCounted ? failureCounts(job, before) : {};
  return {
    metadata: {
      ...metadata,
      generateName: generateName(job.metadata.name ?? '', index),
      labels: { ...metadata.labels, [COMPLETION_INDEX]: String(index) },
      annotations: { ...metadata.annotations, ...counts, [COMPLETION_INDEX]: String(index) },
    },
    spec: {
      ...spec,
      hostname: `${job.metadata.name}-${index}`,
      containers: spec.containers.map(withIndexVariable),
      ...(spec.initContainers ? { initContainers: spec.initContainers.map(withIndexVariable) } : {}),
    },
  } as Draft<Pod>;
}

function generateName(name: string, index: number): string {
  const ending = `-${index}-`;
  return name.slice(0, MAX_PREFIX_LENGTH - ending.length) + ending;
}

/** A variable of the template takes precedence. */
function withIndexVariable(container: any): any {
  const env: readonly any[] = container.env ?? [];
  if (env.some(({ name }) => name === INDEX_VARIABLE)) return container;
  const valueFrom = { fieldRef: { fieldPath: `metadata.labels['${COMPLETION_INDEX}']` } };
  return { ...container, env: [...env, { name: INDEX_VARIABLE, valueFrom }] };
}
