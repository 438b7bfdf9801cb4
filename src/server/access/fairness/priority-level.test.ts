import { expect, it } from 'vitest';
import { fc, forAll } from '../../../../test/support/property-runs.ts';
import { dealQueues } from './priority-level.ts';

it('deals a flow the requested number of different queues, always the same', () => {
  forAll(fc.string(), fc.integer({ min: 1, max: 512 }), fc.integer({ min: 1, max: 10 }), (flow, queues, size) => {
    const hand = dealQueues(flow, queues, size);
    expect(new Set(hand).size).toBe(Math.min(size, queues));
    for (const queue of hand) expect(queue >= 0 && queue < queues).toBe(true);
    expect(dealQueues(flow, queues, size)).toEqual(hand);
  });
});

it('deals different flows hands that hardly overlap', () => {
  const flood = new Set(dealQueues('global-default/flood', 128, 6));
  const hands = Array.from({ length: 2_000 }, (_, index) => dealQueues(`global-default/user-${index}`, 128, 6));
  expect(hands.filter((hand) => hand.every((queue) => flood.has(queue)))).toEqual([]);
  const used = new Array(128).fill(0);
  for (const hand of hands) for (const queue of hand) used[queue]++;
  // A total of 12,000 cards on 128 queues gives about 94 each.
  expect(Math.min(...used)).toBeGreaterThan(50);
  expect(Math.max(...used)).toBeLessThan(150);
});
