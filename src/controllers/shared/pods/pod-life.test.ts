import { expect, it } from 'vitest';
import { fc, forAll } from '../../../../test/support/property-runs.ts';
import { timestamp } from '../../../base/time/timestamp.ts';
import { isAvailable, nextAvailable } from './pod-life.ts';

const NOW = Date.parse('2030-01-01T00:00:00Z');
const pod = (lastTransitionTime?: string, status = 'True') =>
  ({
    status: {
      conditions: [
        { type: 'Initialized', status: 'True' },
        { type: 'Ready', status, lastTransitionTime },
      ],
    },
  }) as any;

it('a pod that is ready is available when it has been so for its seconds, to the millisecond', () => {
  const times = fc.tuple(fc.integer({ min: -2e9, max: 2e9 }), fc.nat({ max: 1e6 }), fc.nat({ max: 999 }));
  forAll(times, ([seconds, minimum, millis]) => {
    const since = NOW + seconds * 1000;
    const now = NOW + millis;
    expect(isAvailable(pod(timestamp(since)), minimum, now)).toBe(minimum === 0 || since + minimum * 1000 <= now);
  });
});

it('a pod that is ready is available at once without minReadySeconds, and never without a transition time', () => {
  expect(isAvailable(pod(), 0, NOW)).toBe(true);
  expect(isAvailable(pod(), 1, NOW)).toBe(false);
  expect(isAvailable(pod(timestamp(0), 'False'), 0, NOW)).toBe(false);
  expect(isAvailable({ status: {} } as any, 0, NOW)).toBe(false);
});

it('a pod that is ready causes a plan when the first of them becomes available', () => {
  const pods = [pod(timestamp(NOW - 10_000)), pod(timestamp(NOW - 3000)), pod(timestamp(NOW - 5000)), pod()];
  expect(nextAvailable(pods, 10, NOW + 500)).toEqual([{ type: 'requeueAfter', milliseconds: 4500 }]);
  expect(nextAvailable(pods, 0, NOW)).toEqual([]);
  expect(nextAvailable(pods, 3, NOW)).toEqual([]);
});
