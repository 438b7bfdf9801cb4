import { expect, it } from 'vitest';
import { type DividedWork, inTurns } from './in-turns.ts';

it('returns the result of work that never yields', () => {
  const nextTurn = () => expect.fail('waited');
  // biome-ignore lint/correctness/useYield: work that is done at once
  const work = (function* (): DividedWork<number> {
    return 1;
  })();
  expect(inTurns({ nextTurn }, work)).toBe(1);
});

it('waits for another turn whenever the work yields', async () => {
  let turns = 0;
  const nextTurn = async () => void turns++;
  const seen: number[] = [];
  const work = (function* (): DividedWork<string> {
    for (let i = 0; i < 3; i++) {
      seen.push(turns);
      yield;
    }
    return 'done';
  })();
  expect(await inTurns({ nextTurn }, work)).toBe('done');
  expect(seen).toEqual([0, 1, 2]);
});

it('rejects with the error of the work', async () => {
  const work = (function* (): DividedWork<string> {
    yield;
    throw new Error('broken');
  })();
  await expect(inTurns({ nextTurn: async () => undefined }, work)).rejects.toThrow('broken');
});

it('rejects when the signal is aborted', async () => {
  const abort = new AbortController();
  let steps = 0;
  const work = (function* (): DividedWork<void> {
    for (;;) {
      if (++steps === 3) abort.abort(new Error('given up'));
      yield;
    }
  })();
  await expect(inTurns({ nextTurn: async () => undefined }, work, abort)).rejects.toThrow('given up');
  expect(steps).toBe(3);
});
