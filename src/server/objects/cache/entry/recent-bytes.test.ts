import { expect, it } from 'vitest';
import { RecentBytes } from './recent-bytes.ts';

it('keeps the newest bytes up to the limit, and drops the oldest', () => {
  const recent = new RecentBytes(1_000);
  const kept = Array.from({ length: 5_000 }, () => recent.keep(Buffer.alloc(10)));
  const left = kept.flatMap(({ bytes }, index) => (bytes ? [index] : []));
  expect(left).toEqual(Array.from({ length: 100 }, (_, index) => 4_900 + index));
});

it('rejects bytes larger than the limit, and drops nothing for them', () => {
  const recent = new RecentBytes(100);
  const small = recent.keep(Buffer.alloc(50));
  expect(recent.keep(Buffer.alloc(101)).bytes).toBeUndefined();
  expect(small.bytes).toHaveLength(50);
});
