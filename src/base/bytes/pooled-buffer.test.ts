import { expect, it } from 'vitest';
import { allocatePooled } from './pooled-buffer.ts';

it('gives every caller separate bytes', () => {
  const buffers = Array.from({ length: 100 }, (_, index) => allocatePooled(index * 97).fill(index));
  buffers.forEach((buffer, index) => {
    expect(buffer.length).toBe(index * 97);
    expect(buffer.every((byte) => byte === index)).toBe(true);
  });
  // Small buffers share slabs.
  expect(new Set(buffers.map(({ buffer }) => buffer)).size).toBeLessThan(buffers.length / 5);
});

it('gives large buffers separate memory', () => {
  const large = allocatePooled(100_000);
  expect(large.buffer.byteLength).toBe(100_000);
});
