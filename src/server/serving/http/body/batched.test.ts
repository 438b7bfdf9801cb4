import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { batched } from './batched.ts';

/** Counts the bodies, which arrive at the same time, that are handled in each turn of the event loop. */
async function handledPerTurn(sizes: readonly number[]): Promise<number[]> {
  let handled = 0;
  const all = sizes.map((size) => batched(Promise.resolve(Buffer.alloc(size))).then(() => handled++));
  const turns: number[] = [];
  while (handled < sizes.length) {
    const before = handled;
    await nextTurn();
    if (handled > before) turns.push(handled - before);
  }
  await Promise.all(all);
  return turns;
}

it('handles a few small bodies in a turn', async () => {
  expect(await handledPerTurn(Array(20).fill(1_000))).toEqual([8, 8, 4]);
});

it('handles one large body in a turn', async () => {
  expect(await handledPerTurn([1_000, 3_000_000, 3_000_000, 1_000, 1_000])).toEqual([2, 1, 2]);
});
