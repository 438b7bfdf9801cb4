import { expect, it } from 'vitest';
import { silent } from '../../base/log.ts';
import { ControlledClock } from '../../base/time/clock.ts';
import { releaseLeftovers } from './leftovers.ts';

it('releases each, whatever happens to the others, and tries again', async () => {
  const clock = new ControlledClock();
  const left = new Set(['a', 'b', 'c']);
  const released: string[] = [];
  let isDriverThere = false;
  const volumes = {
    leftovers: async () => [...left],
    release: async (uid: string) => {
      released.push(uid);
      if (uid === 'a' && !isDriverThere) throw new Error('no driver');
      left.delete(uid);
    },
  };
  const { signal } = new AbortController();
  const done = releaseLeftovers({ volumes, isFollowed: (uid) => uid === 'b', clock, log: silent, signal });
  await clock.advance(0);
  expect(released).toEqual(['a', 'c']);
  isDriverThere = true;
  await clock.advance(30_000);
  await done;
  expect(released).toEqual(['a', 'c', 'a']);
});

it('ends with the agent', async () => {
  const clock = new ControlledClock();
  const stop = new AbortController();
  const volumes = { leftovers: () => Promise.reject(new Error('no')), release: async () => {} };
  const done = releaseLeftovers({ volumes, isFollowed: () => false, clock, log: silent, signal: stop.signal });
  await clock.advance(0);
  stop.abort();
  await done;
  expect(clock.waiting).toBe(0);
});
