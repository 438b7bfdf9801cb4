import { expect, it } from 'vitest';
import { memoryOf } from './memory.ts';

it.each<[string, unknown, number]>([
  ['a long text', 'a'.repeat(1_000), 1_000],
  ['many empty objects', Array.from({ length: 100 }, () => ({})), 4_800],
  ['many empty lists', Array.from({ length: 100 }, () => []), 4_800],
  ['many numbers', Array.from({ length: 100 }, () => 1), 1_600],
  ['long names of fields', { ['a'.repeat(1_000)]: null }, 1_000],
  ['what is inside', { a: [{ b: 'c'.repeat(1_000) }] }, 1_000],
])('%s counts', (_, value, least) => {
  expect(memoryOf(value)).toBeGreaterThanOrEqual(least);
  expect(memoryOf(value)).toBeLessThan(least + 500);
});
