/** Compares the cost of preemption candidates. */
import type { PodInfo } from '../cluster/pod-info.ts';

/** The most important first: by priority, then by start time. */
export function byImportance(a: PodInfo, b: PodInfo): number {
  return b.priority - a.priority || startOf(a) - startOf(b);
}

function startOf({ pod: { status, metadata } }: PodInfo): number {
  return Date.parse(status.startTime ?? metadata.creationTimestamp ?? '') || 0;
}

export interface Candidate {
  readonly nodeName: string;
  /** The most important first. */
  readonly victims: readonly PodInfo[];
  readonly violations: number;
}

/** Costs of a candidate; each one only breaks ties of those before it. */
const COSTS: readonly ((candidate: Candidate) => number)[] = [
  ({ violations }) => violations,
  ({ victims }) => victims[0]!.priority,
  // Shifted, so that more pods of a negative priority cost more than fewer.
  ({ victims }) => victims.reduce((sum, { priority }) => sum + priority + 2 ** 31, 0),
  ({ victims }) => victims.length,
  ({ victims }) => -earliestOfHighest(victims),
];

function earliestOfHighest(victims: readonly PodInfo[]): number {
  const highest = victims[0]!.priority;
  return Math.min(...victims.filter(({ priority }) => priority === highest).map(startOf));
}

/** Returns the candidate with the lowest cost. */
export function cheapest(candidates: readonly Candidate[]): Candidate | undefined {
  let left = candidates;
  for (const cost of COSTS) {
    if (left.length < 2) break;
    const costs = left.map(cost);
    const least = Math.min(...costs);
    left = left.filter((_, index) => costs[index] === least);
  }
  return left[0];
}
