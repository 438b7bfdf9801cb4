import { assert, asyncProperty, jsonValue } from 'fast-check';
import { expect, it } from 'vitest';
import { prettyJson } from './pretty-json.ts';

const expected = (value: unknown) => `${JSON.stringify(value, null, 2)}\n`;
const pretty = async (value: unknown) => String(await prettyJson(Buffer.from(JSON.stringify(value))));

it('indents as JSON.stringify does', async () => {
  await assert(
    asyncProperty(jsonValue({ maxDepth: 6, noUnicodeString: false }), async (value) => {
      expect(await pretty(value)).toBe(expected(value));
    }),
    { numRuns: 50 },
  );
});

it.each([
  ['empty lists and objects', { a: [], b: {}, c: [[], [{}]] }],
  ['quotes, backslashes and brackets in strings', { 'a"]': '\\", {[', 'b\\': '\\\\' }],
  ['a text', 'x'],
  ['deep nesting', JSON.parse(`${'['.repeat(300)}1${']'.repeat(300)}`)],
])('preserves %s', async (_, value) => {
  expect(await pretty(value)).toBe(expected(value));
});

it('yields to other work', async () => {
  const items = Array.from({ length: 50_000 }, (_, i) => ({ name: `item-${i}`, text: '{"x":[\\]}' }));
  let turns = 0;
  let isDone = false;
  const count = () => {
    turns++;
    if (!isDone) setImmediate(count);
  };
  setImmediate(count);
  expect(await pretty(items)).toBe(expected(items));
  isDone = true;
  expect(turns).toBeGreaterThan(10);
});
