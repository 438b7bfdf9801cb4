import { setImmediate as turn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { soon } from './soon.ts';

test('runs once for several calls, and again for a later call', async () => {
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
