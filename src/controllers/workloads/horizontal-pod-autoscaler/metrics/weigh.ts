/** How many pods would bring what was measured to its target. Nothing here knows of limits, or of what was before. */
import type { PodGroups } from './pod-groups.ts';
import type { Sample, Samples } from './samples.ts';
import { Unmeasurable } from './unmeasurable.ts';

/** By how much the target may be missed before anything is done, in each direction: 0.1 is a tenth. */
export interface Tolerance {
  readonly down: number;
  readonly up: number;
}

interface Scales {
  /** How many there should be until now. */
  readonly replicas: number;
  readonly tolerance: Tolerance;
}

const MOST = 2 ** 31 - 1;

const isWithin = ({ down, up }: Tolerance, ratio: number) => 1 - down <= ratio && ratio <= 1 + up;

const wholePods = (count: number) => Math.min(Math.ceil(count), MOST);

export interface Utilization {
  readonly replicas: number;
  /** How many hundredths of their requests the pods use, and how much that is for each. */
  readonly utilization: number;
  readonly average: bigint;
}

/** `target` in hundredths of what the pods request. Throws an Unmeasurable. */
export function weighUtilization(
  groups: PodGroups,
  requests: ReadonlyMap<string, bigint>,
  { target, ...scales }: Scales & { readonly target: number },
): Utilization {
  const use = (samples: Samples) => utilizationOf(samples, requests);
  const { utilization, average } = use(groups.samples);
  const replicas = weigh(groups, {
    ...scales,
    ratioOf: (samples) => use(samples).utilization / target,
    // One of which nothing is known is not to be the reason that others go.
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

/** `target` as what was measured. */
export function weighAverage(
  groups: PodGroups,
  { target, ...scales }: Scales & { readonly target: bigint },
): { readonly replicas: number; readonly average: bigint } {
  const averageOf = (samples: Samples) => {
    let sum = 0n;
    for (const { value } of samples.values()) sum += value;
    return sum / BigInt(samples.size);
  };
  const ratioOf = (samples: Samples) => Number(averageOf(samples)) / Number(target);
  return { replicas: weigh(groups, { ...scales, ratioOf, assumed: () => target }), average: averageOf(groups.samples) };
}

interface Weighing extends Scales {
  /** How the use stands to its target. */
  readonly ratioOf: (samples: Samples) => number;
  /** What a pod without a measurement counts as using, where fewer pods would do for the others. */
  readonly assumed: (pod: string) => bigint;
}

/** Pods without a measurement, or not at work yet, may make a change smaller, but never turn it round. */
function weigh({ samples, ready, unready, missing }: PodGroups, { replicas, tolerance, ...use }: Weighing): number {
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

/** One value that all pods that are ready bring about together. `target` is the value that is wanted. */
export function weighTotal(
  total: bigint,
  ready: () => number,
  { target, replicas, tolerance }: Scales & { readonly target: bigint },
): number {
  const ratio = Number(total) / Number(target);
  if (replicas === 0) return wholePods(ratio);
  return isWithin(tolerance, ratio) ? replicas : wholePods(ratio * ready());
}

/** The same where the target is for each pod. `observed` is how many pods there are. */
export function weighShare(
  total: bigint,
  { target, observed, tolerance }: Omit<Scales, 'replicas'> & { readonly target: bigint; readonly observed: number },
): { readonly replicas: number; readonly average: bigint } {
  const ratio = Number(total) / (Number(target) * observed);
  const replicas = isWithin(tolerance, ratio) ? observed : wholePods(Number(total) / Number(target));
  const parts = BigInt(Math.max(1, observed));
  return { replicas, average: (total + parts - 1n) / parts };
}
