import { expect, it } from 'vitest';
import { fc, forAll } from '../../../test/support/property-runs.ts';
import type { Random } from '../random.ts';
import { Backoff, backoffDelay } from './backoff.ts';

const always = (part: number): Random => ({
  uuid: () => '',
  int: (limit) => Math.min(limit - 1, Math.floor(part * limit)),
  bytes: (length) => Buffer.alloc(length),
});

it('backoffDelay doubles from the base up to the limit', () => {
  const delays = [1, 2, 3, 4, 5].map((n) => backoffDelay(n, { base: 100, max: 500, jitter: 0 }, always(0)));
  expect(delays).toEqual([100, 200, 400, 500, 500]);
});

it('backoffDelay randomizes by no more than the jitter', () => {
  forAll(
    fc.integer({ min: 1, max: 2000 }),
    fc.double({ min: 0, max: 1, noNaN: true }),
    fc.double({ min: 0, max: 0.999, noNaN: true }),
    (failures, jitter, chance) => {
      const options = { base: 10, max: 1000, jitter };
      const full = backoffDelay(failures, { ...options, jitter: 0 }, always(0));
      const delay = backoffDelay(failures, options, always(chance));
      expect(delay).toBeLessThanOrEqual(full);
      expect(delay).toBeGreaterThanOrEqual(full * (1 - jitter) - 1e-9);
    },
  );
});

it('Backoff starts over after a reset', () => {
  const backoff = new Backoff({ base: 10, max: 1000, jitter: 0 }, always(0));
  expect([backoff.next(), backoff.next()]).toEqual([10, 20]);
  backoff.reset();
  expect(backoff.next()).toBe(10);
});
