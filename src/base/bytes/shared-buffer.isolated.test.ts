import { expect, it } from 'vitest';
import { allocateSharable, free, isMovable, isShared, joinSharable, makeMovable } from './shared-buffer.ts';

const MEBIBYTE = 1024 * 1024;

it('puts only large buffers into shared memory', () => {
  expect(isShared(allocateSharable(MEBIBYTE))).toBe(true);
  expect(isShared(allocateSharable(1024))).toBe(false);
});

it('uses ordinary memory while much shared memory has not been collected', () => {
  const buffers = Array.from({ length: 100 }, () => allocateSharable(MEBIBYTE));
  const shared = buffers.filter(isShared);
  expect(shared.length).toBeGreaterThan(32);
  expect(shared.length).toBeLessThanOrEqual(48);
  const joined = joinSharable([Buffer.from('a'), Buffer.alloc(MEBIBYTE, 'b')]);
  expect(isShared(joined)).toBe(false);
  expect(joined.subarray(0, 3).toString()).toBe('abb');
});

it('frees only movable memory at once', () => {
  const before = process.memoryUsage().arrayBuffers;
  const alone = makeMovable(Buffer.alloc(8 * MEBIBYTE));
  const kept = Buffer.alloc(8 * MEBIBYTE);
  for (const bytes of [alone, kept, allocateSharable(MEBIBYTE), Buffer.from('small')]) free(bytes);
  expect(alone).toHaveLength(0);
  expect(kept).toHaveLength(8 * MEBIBYTE);
  expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(12 * MEBIBYTE);
});

it('moves a slice only if the rest of the memory is unused', () => {
  expect(isMovable(makeMovable(Buffer.alloc(MEBIBYTE).subarray(0, 500_000)))).toBe(false);
  expect(isMovable(makeMovable(Buffer.alloc(MEBIBYTE).subarray(0, 500_000), { isAlone: true }))).toBe(true);
  expect(isMovable(makeMovable(Buffer.alloc(1000), { isAlone: true }))).toBe(false);
});

it('copies a slice of a movable buffer', () => {
  const whole = makeMovable(Buffer.alloc(MEBIBYTE));
  expect(isMovable(whole.subarray(0, 500_000))).toBe(false);
  expect(isMovable(whole)).toBe(true);
});
