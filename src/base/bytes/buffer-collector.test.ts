import { setImmediate } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { BufferCollector } from './buffer-collector.ts';

const MEBIBYTE = 1024 * 1024;

it('collects once for every 16 MiB in large buffers', async () => {
  let collections = 0;
  const collector = new BufferCollector(() => collections++);
  for (let i = 0; i < 15; i++) collector.passed(MEBIBYTE);
  await setImmediate();
  expect(collections).toBe(0);
  collector.passed(MEBIBYTE);
  await setImmediate();
  expect(collections).toBe(1);
  for (let i = 0; i < 16 * 2; i++) collector.passed(MEBIBYTE);
  await setImmediate();
  expect(collections).toBe(3);
});

it('does not count small buffers', async () => {
  let collections = 0;
  const collector = new BufferCollector(() => collections++);
  for (let i = 0; i < 10_000; i++) collector.passed(32 * 1024);
  await setImmediate();
  expect(collections).toBe(0);
});
