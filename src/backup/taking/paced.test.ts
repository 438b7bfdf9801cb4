import { describe, expect, test } from 'vitest';
import { ControlledClock } from '../../base/time/clock.ts';
import { paced } from './paced.ts';

/** Reads items of which each takes a millisecond, and resolves with the length of each pause. */
async function pausesOf(share: number, items = 5): Promise<number[]> {
  const clock = new ControlledClock();
  let monotonic = 0;
  const pauses: number[] = [];
  const timed = {
    now: () => clock.now(),
    monotonic: () => monotonic,
    timer: (delay: number, task: () => void) => {
      pauses.push(delay);
      queueMicrotask(task);
      return { cancel: () => undefined };
    },
  };
  async function* work() {
    for (let i = 0; i < items; i++) {
      monotonic++;
      yield i;
    }
  }
  const read: number[] = [];
  for await (const item of paced(work(), { clock: timed, share, signal: new AbortController().signal })) {
    monotonic += 100; // The consumer's time is its own.
    read.push(item);
  }
  expect(read).toEqual([...Array(items).keys()]);
  return pauses;
}

describe('reading at a pace', () => {
  test('pauses so long that it takes its share of the thread', async () => {
    expect((await pausesOf(0.5)).map(Math.round)).toEqual([1, 1, 1, 1, 1]);
    expect((await pausesOf(0.1)).map(Math.round)).toEqual([9, 9, 9, 9, 9]);
  });

  test('has a longest pause, and none when the thread is its own', async () => {
    expect(await pausesOf(0.001, 2)).toEqual([50, 50]);
    expect(await pausesOf(1)).toEqual([]);
  });

  test('ends when it is aborted', async () => {
    const signal = AbortSignal.abort(new Error('stopped'));
    const reading = paced(
      (async function* () {
        yield 1;
      })(),
      { clock: new ControlledClock(), share: 1, signal },
    );
    await expect(reading.next()).rejects.toThrow('stopped');
  });
});
