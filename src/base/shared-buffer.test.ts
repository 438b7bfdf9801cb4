import { expect, it } from 'vitest';
import { allocateSharable, isShared, joinSharable } from './shared-buffer.ts';

const MEBIBYTE = 1024 * 1024;

it('puts large buffers into shared memory, and small ones not', () => {
  expect(isShared(allocateSharable(MEBIBYTE))).toBe(true);
  expect(isShared(allocateSharable(1024))).toBe(false);
});

it('takes ordinary memory while much shared memory has not been collected', () => {
  const buffers = Array.from({ length: 100 }, () => allocateSharable(MEBIBYTE));
  const shared = buffers.filter(isShared);
  expect(shared.length).toBeGreaterThan(32);
  expect(shared.length).toBeLessThanOrEqual(48);
  const joined = joinSharable([Buffer.from('a'), Buffer.alloc(MEBIBYTE, 'b')]);
  expect(isShared(joined)).toBe(false);
  expect(joined.subarray(0, 3).toString()).toBe('abb');
});
