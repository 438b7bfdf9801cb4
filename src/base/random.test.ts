import { expect, test } from 'vitest';
import { SeededRandom } from './random.ts';

const drawn = (random: SeededRandom) => [random.uuid(), random.int(1_000_000), random.bytes(5).toString('hex')];

test('the same seed gives the same values, another seed others', () => {
  expect(drawn(new SeededRandom(7))).toEqual(drawn(new SeededRandom(7)));
  expect(drawn(new SeededRandom(7))).not.toEqual(drawn(new SeededRandom(8)));
});

test('a generator continues from the state of another one', () => {
  const first = new SeededRandom(7);
  first.uuid();
  expect(drawn(new SeededRandom(first.state))).toEqual(drawn(first));
});

test('numbers cover their range, and uuids are distinct and of version 4', () => {
  const random = new SeededRandom(1);
  expect(new Set(Array.from({ length: 200 }, () => random.int(3)))).toEqual(new Set([0, 1, 2]));
  const ids = Array.from({ length: 10_000 }, () => random.uuid());
  expect(new Set(ids).size).toBe(10_000);
  expect(ids.every((id) => /^[\da-f]{8}-[\da-f]{4}-4[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/.test(id))).toBe(true);
});
