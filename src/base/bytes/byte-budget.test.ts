import { expect, it } from 'vitest';
import { ByteBudget } from './byte-budget.ts';

it('empties the cache before an entry would exceed the limit', () => {
  let cached: number[] = [];
  const budget = new ByteBudget({
    maxBytes: 1_600,
    onFull: () => {
      cached = [];
    },
  });
  const add = (bytes: number) => budget.admit(bytes) && cached.push(bytes);
  for (let i = 0; i < 100; i++) {
    add(1 + ((i * 37) % 100));
    const sum = cached.reduce((a, b) => a + b, 0);
    expect(budget.used).toBe(sum);
    expect(sum).toBeLessThanOrEqual(1_600);
  }
});

it('rejects entries that take too large a share, and keeps the others', () => {
  let isEmptied = false;
  const budget = new ByteBudget({
    maxBytes: 1_600,
    onFull: () => {
      isEmptied = true;
    },
  });
  expect(budget.admit(100)).toBe(true);
  expect(budget.admit(101)).toBe(false);
  expect(budget.admit(3_000_000)).toBe(false);
  expect([budget.used, isEmptied]).toEqual([100, false]);
  budget.reset();
  expect(budget.used).toBe(0);
});
