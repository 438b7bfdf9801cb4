import { expect, test } from 'vitest';
import { Numbered, Numbers } from './numbered.ts';

test('a number finds what was added under it, until that is deleted', () => {
  const [numbers, open] = [new Numbers(), new Numbered<{ id: number }>()];
  const [first, second] = [{ id: numbers.take() }, { id: numbers.take() }];
  open.add(second);
  open.add(first);
  expect(open.get(first.id)).toBe(first);
  expect(open.get(second.id)).toBe(second);
  expect(open.delete(first.id)).toBe(true);
  expect(open.delete(first.id)).toBe(false);
  expect(open.get(first.id)).toBeUndefined();
  expect(open.get(second.id)).toBe(second);
});

test('a word for what is over never reaches whoever has its place', () => {
  const [numbers, open] = [new Numbers(), new Numbered<{ id: number }>()];
  const before = { id: numbers.take() };
  open.add(before);
  open.delete(before.id);
  numbers.giveBack(before.id);
  const after = { id: numbers.take() };
  open.add(after);
  expect(after.id).not.toBe(before.id);
  expect(open.get(before.id)).toBeUndefined();
  expect(open.delete(before.id)).toBe(false);
  expect(open.get(after.id)).toBe(after);
});

test('of numbers in use no two are alike, and places are used again', () => {
  const numbers = new Numbers();
  const places = new Set<number>();
  const seen = new Set<number>();
  for (let round = 0; round < 1_000; round++) {
    const held = [numbers.take(), numbers.take(), numbers.take()];
    for (const number of held) {
      seen.add(number);
      places.add(number % 2 ** 22);
      numbers.giveBack(number);
    }
  }
  expect(seen.size).toBe(3_000);
  expect(places.size).toBe(3);
});
