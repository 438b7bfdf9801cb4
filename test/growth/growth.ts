/** Measures how the processor time of work grows with its input. */
import { expect, it } from 'vitest';

/** Prepares the work for this number of items; the returned function is measured. */
export type Scenario = (items: number) => () => unknown;

const FACTOR = 4;
/** Linear work takes four times as long, quadratic work sixteen times. */
const MAX_RATIO = 9;
/** Minimum time: shorter ones are too inexact to compare. */
const MIN_MS = 3;
const RUNS = 3;
/** Number of attempts: another process may disturb a measurement, and the compiler the first one. */
const ATTEMPTS = 4;

/** Makes a test of each scenario; its number of items is the smaller one. */
export function growsLinearly(scenarios: Readonly<Record<string, readonly [items: number, scenario: Scenario]>>): void {
  it.each(Object.entries(scenarios))('%s', (_, [items, scenario]) => {
    let ratio = Number.POSITIVE_INFINITY;
    for (let attempt = 0; attempt < ATTEMPTS && ratio > MAX_RATIO; attempt++) {
      const few = shortest(scenario, items);
      ratio = shortest(scenario, items * FACTOR) / Math.max(few, MIN_MS);
    }
    expect(ratio).toBeLessThanOrEqual(MAX_RATIO);
  });
}

function shortest(scenario: Scenario, items: number): number {
  return Math.min(...Array.from({ length: RUNS }, () => processorTime(scenario(items))));
}

/** Returns milliseconds. Unlike elapsed time, they do not include waiting for other processes. */
function processorTime(work: () => unknown): number {
  const before = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}
