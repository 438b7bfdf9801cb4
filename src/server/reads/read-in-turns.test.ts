import { expect, it } from 'vitest';
import { TurnBudget } from '../../base/turn-budget.ts';
import type { Kind } from '../../kinds/kind.ts';
import type { Entry } from '../cache/entry.ts';
import { readInTurns } from './read-in-turns.ts';

/** Entries that each take a millisecond to decode, and the longest time that they took in one turn of the event loop. */
function slowEntries(count: number) {
  let now = 0;
  let read = 0;
  let turnBegan = 0;
  let longestTurn = 0;
  const hub = () => {
    now += 1;
    read += 1;
    longestTurn = Math.max(longestTurn, now - turnBegan);
    setImmediate(() => {
      turnBegan = now;
    });
  };
  return {
    budget: new TurnBudget({ monotonic: () => now }, 10),
    entries: Array.from({ length: count }, () => ({ hub }) as unknown as Entry),
    outcome: () => ({ read, longestTurn }),
  };
}

const kind = {} as Kind;

it('reads a long list in many turns of the event loop', async () => {
  const { budget, entries, outcome } = slowEntries(1_000);
  await readInTurns(budget, entries, kind);
  expect(outcome().read).toBe(1_000);
  expect(outcome().longestTurn).toBeLessThan(100);
});

it('does nothing about a short list', () => {
  const { budget, entries, outcome } = slowEntries(100);
  expect(readInTurns(budget, entries, kind)).toBeUndefined();
  expect(outcome().read).toBe(0);
});
