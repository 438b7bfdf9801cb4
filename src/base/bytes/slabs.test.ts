import { expect, it } from 'vitest';
import { Slabs } from './slabs.ts';

it('gives every caller separate bytes', () => {
  const slabs = new Slabs(64 * 1024);
  const buffers = Array.from({ length: 100 }, (_, index) => slabs.allocate(index * 97).fill(index));
  buffers.forEach((buffer, index) => {
    expect(buffer.length).toBe(index * 97);
    expect(buffer.every((byte) => byte === index)).toBe(true);
  });
  // Small buffers share slabs.
  expect(new Set(buffers.map(({ buffer }) => buffer)).size).toBeLessThan(buffers.length / 5);
});

it('gives large buffers separate memory', () => {
  const slabs = new Slabs(64 * 1024);
  const large = slabs.allocate(100_000);
  expect(large.buffer.byteLength).toBe(100_000);
  expect(slabs.shorten(large, 50_000).buffer.byteLength).toBe(50_000);
});

it('uses what was cut off for the next buffer', () => {
  const slabs = new Slabs(64 * 1024);
  const first = slabs.shorten(slabs.allocate(1_000), 10);
  const next = slabs.allocate(1_000);
  expect(first.length).toBe(10);
  expect(next.buffer).toBe(first.buffer);
  expect(next.byteOffset).toBe(first.byteOffset + 10);
});
