import fc from 'fast-check';
import { expect, it } from 'vitest';
import { handOf } from './hand.ts';

it('is as many different queues as wanted, and always the same ones', () => {
  fc.assert(
    fc.property(
      fc.string(),
      fc.integer({ min: 1, max: 512 }),
      fc.integer({ min: 1, max: 10 }),
      (flow, queues, size) => {
        const hand = handOf(flow, queues, size);
        expect(new Set(hand).size).toBe(Math.min(size, queues));
        for (const queue of hand) expect(queue >= 0 && queue < queues).toBe(true);
        expect(handOf(flow, queues, size)).toEqual(hand);
      },
    ),
  );
});

it('leaves nearly every other flow a queue of its own', () => {
  const flood = new Set(handOf('global-default/flood', 128, 6));
  const hands = Array.from({ length: 2_000 }, (_, index) => handOf(`global-default/user-${index}`, 128, 6));
  expect(hands.filter((hand) => hand.every((queue) => flood.has(queue)))).toEqual([]);
  const used = new Array(128).fill(0);
  for (const hand of hands) for (const queue of hand) used[queue]++;
  // 12,000 cards on 128 queues: 94 each, give or take.
  expect(Math.min(...used)).toBeGreaterThan(50);
  expect(Math.max(...used)).toBeLessThan(150);
});
