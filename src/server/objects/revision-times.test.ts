import { expect, it } from 'vitest';
import { ControlledClock } from '../../base/time/clock.ts';
import { RevisionTimes } from './revision-times.ts';

const START = Date.UTC(2030);
const BOUNDS = { oldest: { time: START, revision: 2 }, newest: { time: START, revision: 3 } };
const setUp = (milliseconds = 300_000) => {
  const clock = new ControlledClock(START);
  return { clock, times: new RevisionTimes({ clock, revision: 7, milliseconds }) };
};
const seconds = ({ times }: ReturnType<typeof setUp>) =>
  times
    .document(BOUNDS)
    .revisions.map(({ time, resourceVersion }) => [(Date.parse(time) - START) / 1000, resourceVersion]);

it('returns the revision that was the newest at a time', async () => {
  const world = setUp();
  for (const revision of [8, 9, 12]) {
    await world.clock.advance(60_000);
    world.times.note(revision);
  }
  expect(seconds(world)).toEqual([
    [0, '7'],
    [60, '8'],
    [120, '9'],
    [180, '12'],
  ]);
  expect(world.times.document(BOUNDS).now).toBe('2030-01-01T00:03:00.000Z');
});

it('tells how far the history reaches', () => {
  const { oldest, newest } = setUp().times.document(BOUNDS);
  expect(oldest).toEqual({ time: '2030-01-01T00:00:00.000Z', resourceVersion: '2' });
  expect(newest.resourceVersion).toBe('3');
});

it('forgets revisions older than the history, but knows the newest one at its beginning', async () => {
  const world = setUp();
  await world.clock.advance(60_000);
  world.times.note(8);
  await world.clock.advance(600_000);
  expect(seconds(world)).toEqual([[360, '8']]);
});

it('keeps a limited number of times, of which the newest is exact', async () => {
  const world = setUp(Number.POSITIVE_INFINITY);
  for (let revision = 8; revision < 50_000; revision++) {
    await world.clock.advance(20);
    world.times.note(revision);
  }
  const all = seconds(world);
  expect(all.length).toBeLessThanOrEqual(10_001);
  expect(all[0]).toEqual([0, '7']);
  expect(all.at(-1)).toEqual([(50_000 - 8) * 0.02, '49999']);
});
