import { setImmediate as turn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { soon } from './soon.ts';

test('a task that is asked for several times runs once, and again when it is asked for later', async () => {
  let runs = 0;
  const ask = soon(() => {
    runs++;
    if (runs === 2) ask();
  });
  ask();
  ask();
  expect(runs).toBe(0);
  await turn();
  expect(runs).toBe(1);
  ask();
  await turn();
  await turn();
  expect(runs).toBe(3);
});
