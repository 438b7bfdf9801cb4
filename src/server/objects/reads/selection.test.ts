import { expect, it } from 'vitest';
import { TurnBudget } from '../../../base/event-loop/turn-budget.ts';
import { readInTurns } from './selection.ts';

/** Objects that each take a millisecond to decode, and the longest time spent on them in one turn of the event loop. */
function slowObjects(length: number, size = 0) {
  let now = 0;
  let count = 0;
  let turnBegan = 0;
  let longestTurn = 0;
  const read = () => {
    now += 1;
    count += 1;
    longestTurn = Math.max(longestTurn, now - turnBegan);
    setImmediate(() => {
      turnBegan = now;
    });
  };
  return {
    budget: new TurnBudget({ monotonic: () => now }, 10),
    objects: Array.from({ length }, () => ({ size })),
    read,
    outcome: () => ({ count, longestTurn }),
  };
}

it('reads a long list in many turns of the event loop', async () => {
  const { budget, objects, read, outcome } = slowObjects(1_000);
  await readInTurns(budget, objects, read);
  expect(outcome().count).toBe(1_000);
  expect(outcome().longestTurn).toBeLessThan(100);
});

it('reads a few large objects in many turns of the event loop', async () => {
  const { budget, objects, read, outcome } = slowObjects(100, 1_000_000);
  await readInTurns(budget, objects, read);
  expect(outcome().count).toBe(100);
  expect(outcome().longestTurn).toBeLessThan(30);
});

it('reads a short list of small objects at once', () => {
  const { budget, objects, read, outcome } = slowObjects(100);
  expect(readInTurns(budget, objects, read)).toBeUndefined();
  expect(outcome().count).toBe(100);
});
