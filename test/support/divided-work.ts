import { expect } from 'vitest';
import type { DividedWork } from '../../src/base/event-loop/in-turns.ts';

/** Pace for work that is not divided. */
export const NEVER_SPENT = { isSpent: () => false };

/** Returns the result of work that does not yield. */
export function atOnce<T>(work: DividedWork<T>): T {
  const { done, value } = work.next();
  return done ? value : expect.fail('yielded');
}

/** Returns the result of work, and its number of turns. */
export function countTurns<T>(work: DividedWork<T>): { readonly value: T; readonly turns: number } {
  for (let turns = 1; ; turns++) {
    const { done, value } = work.next();
    if (done) return { value, turns };
  }
}
