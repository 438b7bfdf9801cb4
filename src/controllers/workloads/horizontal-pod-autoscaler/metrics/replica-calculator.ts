/** Calculates the number of pods that brings a metric to its target, regardless of limits and history. */
import type { SeenPod } from '../../../../api/seen-objects.ts';
import { type Sample, type Samples, Unmeasurable } from './samples.ts';

/** Tolerated deviation from the target in each direction: 0.1 is 10 %. */
export interface Tolerance {
  readonly down: number;
  readonly up: number;
}

interface Scales {
  /** The current desired number. */
  readonly replicas: number;
  readonly tolerance: Tolerance;
}

const MAX_INT32 = 2 ** 31 - 1;

const isWithin = ({ down, up }: Tolerance, ratio: number) => 1 - down <= ratio && ratio <= 1 + up;

const wholePods = (count: number) => Math.min(Math.ceil(count), MAX_INT32);

export interface Utilization {
  readonly replicas: number;
  /** The usage as a percentage of requests, and the average amount for each pod. */
  readonly utilization: number;
  readonly average: bigint;
}

/** `target` is a percentage of the requests. Throws an Unmeasurable. */
export function replicasForUtilization(
  groups: PodGroups,
  requests: ReadonlyMap<string, bigint>,
  { target, ...scales }: Scales & { readonly target: number },
): Utilization {
  const use = (samples: Samples) => utilizationOf(samples, requests);
  const { utilization, average } = use(groups.samples);
  const replicas = calculate(groups, {
    ...scales,
    ratioOf: (samples) => use(samples).utilization / target,
    // A pod without a measurement must not cause a scale-down.
    assumed: (pod) => ((requests.get(pod) ?? 0n) * BigInt(Math.max(100, target))) / 100n,
  });
  return { replicas, utilization, average };
}

function utilizationOf(samples: Samples, requests: ReadonlyMap<string, bigint>) {
  let [used, requested, count] = [0n, 0n, 0n];
  for (const [pod, { value }] of samples) {
    const request = requests.get(pod);
    if (request === undefined) continue;
    used += value;
    requested += request;
    count++;
  }
  if (requested === 0n) throw new Unmeasurable('no metrics returned matched known pods');
  return { utilization: Number((used * 100n) / requested), average: used / count };
}

/** `target` has the unit of the metric. */
export function replicasForAverage(
  groups: PodGroups,
  { target, ...scales }: Scales & { readonly target: bigint },
): { readonly replicas: number; readonly average: bigint } {
  const averageOf = (samples: Samples) => {
    let sum = 0n;
    for (const { value } of samples.values()) sum += value;
    return sum / BigInt(samples.size);
  };
  const ratioOf = (samples: Samples) => Number(averageOf(samples)) / Number(target);
  return {
    replicas: calculate(groups, { ...scales, ratioOf, assumed: () => target }),
    average: averageOf(groups.samples),
  };
}

interface Calculation extends Scales {
  readonly ratioOf: (samples: Samples) => number;
  /** Usage assumed for a pod without a measurement when the others suggest scaling down. */
  readonly assumed: (pod: string) => bigint;
}

/** Pods without a measurement, or not ready, may reduce a change, but never reverse it. */
function calculate(
  { samples, ready, unready, missing }: PodGroups,
  { replicas, tolerance, ...use }: Calculation,
): number {
  const ratio = use.ratioOf(samples);
  const waits = ratio > 1 ? unready : [];
  if (waits.length === 0 && missing.length === 0) {
    return isWithin(tolerance, ratio) ? replicas : wholePods(ratio * ready);
  }
  const guessed = new Map(samples);
  const guess = (pods: readonly string[], value: (pod: string) => bigint) => {
    for (const pod of pods) guessed.set(pod, sampleOf(value(pod)));
  };
  if (ratio !== 1) guess(missing, ratio < 1 ? use.assumed : () => 0n);
  guess(waits, () => 0n);
  const next = use.ratioOf(guessed);
  if (isWithin(tolerance, next) || (ratio < 1 && next > 1) || (ratio > 1 && next < 1)) return replicas;
  const count = wholePods(next * guessed.size);
  const isTurned = (next < 1 && count > replicas) || (next > 1 && count < replicas);
  return isTurned ? replicas : count;
}

const sampleOf = (value: bigint): Sample => ({ value, time: 0, window: 0 });

/** Calculates replicas from one value for all ready pods together. `target` is the desired value. */
export function replicasForTotal(
  total: bigint,
  ready: () => number,
  { target, replicas, tolerance }: Scales & { readonly target: bigint },
): number {
  const ratio = Number(total) / Number(target);
  if (replicas === 0) return wholePods(ratio);
  return isWithin(tolerance, ratio) ? replicas : wholePods(ratio * ready());
}

/** Calculates replicas with a target for each pod. `observed` is the number of pods. */
export function replicasForShare(
  total: bigint,
  { target, observed, tolerance }: Omit<Scales, 'replicas'> & { readonly target: bigint; readonly observed: number },
): { readonly replicas: number; readonly average: bigint } {
  const ratio = Number(total) / (Number(target) * observed);
  const replicas = isWithin(tolerance, ratio) ? observed : wholePods(Number(total) / Number(target));
  const parts = BigInt(Math.max(1, observed));
  return { replicas, average: (total + parts - 1n) / parts };
}

/** Groups the pods that count for a metric, with their usable measurements. */
/** Time after a pod's start in which its usage may be from starting up. */
const STARTUP_MS = 300_000;
/** A pod that was not ready within this time after its start, and is not now, has never been. */
const FIRST_READINESS_MS = 30_000;

export interface PodGroups {
  /** Number of ready pods that count with their measurement. */
  readonly ready: number;
  /** The names of pods that are not ready. */
  readonly unready: readonly string[];
  /** The names of ready pods without a measurement. */
  readonly missing: readonly string[];
  /** Samples of the other pods. */
  readonly samples: Samples;
}

interface Grouping {
  readonly samples: Samples;
  /** The measured resource: only CPU usage is affected by starting up. */
  readonly resource: string | undefined;
  readonly now: number;
}

/** Failed and terminating pods are ignored. */
export function groupPods(pods: readonly SeenPod[], { samples, resource, now }: Grouping): PodGroups {
  const worth = new Map(samples);
  const [unready, missing]: [string[], string[]] = [[], []];
  let ready = 0;
  for (const pod of pods) {
    const { name = '', deletionTimestamp } = pod.metadata;
    const sample = samples.get(name);
    if (deletionTimestamp || pod.status.phase === 'Failed') worth.delete(name);
    else if (pod.status.phase === 'Pending') {
      worth.delete(name);
      unready.push(name);
    } else if (!sample) missing.push(name);
    else if (resource === 'cpu' && isStarting(pod, sample, now)) {
      worth.delete(name);
      unready.push(name);
    } else ready++;
  }
  return { ready, unready, missing, samples: worth };
}

/** Reports whether the pod's CPU usage is from starting up. */
function isStarting({ status }: SeenPod, { time, window }: Sample, now: number): boolean {
  const condition = status.conditions?.find(({ type }) => type === 'Ready');
  if (!condition || !status.startTime) return true;
  const start = Date.parse(status.startTime);
  const changed = Date.parse(condition.lastTransitionTime ?? '') || 0;
  const isUnready = condition.status === 'False';
  if (start + STARTUP_MS > now) return isUnready || time < changed + window;
  return isUnready && start + FIRST_READINESS_MS > changed;
}
