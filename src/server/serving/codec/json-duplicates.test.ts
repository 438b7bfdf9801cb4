import { expect, it } from 'vitest';
import { fc, forAll } from '../../../../test/support/property-runs.ts';
import { inTurns } from '../../../base/event-loop/in-turns.ts';
import { duplicateKeys, searchDuplicateKeys } from './json-duplicates.ts';

function find(text: string): readonly string[] | undefined {
  return duplicateKeys(Buffer.from(text), JSON.parse(text));
}

it.each([
  ['{"a":1,"a":2}', ['a']],
  ['{"a":{"b":1,"c":2,"b":3}}', ['a.b']],
  ['{"spec":{"containers":[{"name":"x"},{"name":"y", "image" : "i", "image"\n:"j"}]}}', ['spec.containers[1].image']],
  ['{"a":1,"a":2,"a":3}', ['a']],
  ['{"a":{"x":1},"a":{"x":2}}', ['a']],
  ['{"a":{"x":1,"x":2},"b":0,"b":1}', ['a.x', 'b']],
  ['[[{"a":1},{"op":"add","op":"test"}]]', ['[0][1].op']],
  ['{"\\u0061":1,"a":2}', ['a']],
  ['{"k:\\"y":":","k:\\"y":"\\\\"}', ['k:"y']],
])('finds the duplicates in %s', (text, paths) => {
  expect(find(text)).toEqual(paths);
});

it('finds none if there are none, whatever the strings contain', () => {
  forAll(fc.json(), fc.boolean(), (text, pretty) => {
    const value = JSON.parse(text);
    expect(find(pretty ? JSON.stringify(value, null, 2) : JSON.stringify(value))).toBeUndefined();
  });
});

it('finds a single duplicate, whatever is around it', () => {
  forAll(fc.dictionary(fc.string(), fc.jsonValue(), { minKeys: 1 }), fc.nat(), (object, which) => {
    const keys = Object.keys(object);
    const key = keys[which % keys.length]!;
    const text = `{${JSON.stringify(object).slice(1, -1)},${JSON.stringify(key)}:{"inner":1}}`;
    expect(find(text)).toEqual([key]);
  });
});

it('reports at most a hundred', () => {
  const pairs = Array.from({ length: 300 }, (_, i) => `"k${i}":0,"k${i}":1`);
  expect(find(`{${pairs.join(',')}}`)).toHaveLength(100);
});

it('reports a key that is repeated very often once, and truncates a long path', () => {
  const long = 'x'.repeat(1_400_000);
  const repeated = new Array(200_000).fill('"a":1').join(',');
  expect(find(`{"${long}":{${repeated}}}`)?.map(({ length }) => length)).toEqual([2_001]);
  const items = new Array(1_000).fill('{"a":1,"a":2}').join(',');
  expect(find(`{"${long}":[${items}]}`)?.join('').length).toBeLessThan(300_000);
});

it('searches a large text in several turns of the event loop, with the same result', async () => {
  const items = Array.from({ length: 100_000 }, (_, i) => (i > 99_990 ? '{"a":1,"a":2}' : '{"a":1,"b":2}'));
  const text = `{"list":[${items.join(',')}]}`;
  const bytes = Buffer.from(text);
  let turns = 0;
  const nextTurn = async () => {
    turns++;
  };
  const found = await inTurns({ nextTurn }, searchDuplicateKeys(bytes, JSON.parse(text)));
  expect(turns).toBeGreaterThanOrEqual(10);
  expect(found).toEqual(find(text));
  expect(found).toHaveLength(9);
});
