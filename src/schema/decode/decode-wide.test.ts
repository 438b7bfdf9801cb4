import { afterEach, expect, it, vi } from 'vitest';
import { s } from '../builders.ts';
import type { Fields, ObjectSchema, Schema } from '../schema.ts';
import { type DecodeOptions, decode } from './decode.ts';

afterEach(() => vi.restoreAllMocks());

const fillers = (count: number): Fields =>
  Object.fromEntries(Array.from({ length: count }, (_, i) => [`filler${i}`, s.string()]));

const objectOf = (fields: Fields, more: Partial<ObjectSchema> = {}): ObjectSchema => ({
  type: 'object',
  name: 'Wide',
  fields,
  ...more,
});

/** Result of decoding: the object with its dropped fields, or the message of the error. */
function outcome(schema: ObjectSchema, input: unknown, options: DecodeOptions = {}) {
  const dropped: string[] = [];
  try {
    return { decoded: decode(schema, input, { ...options, unknown: (path) => void dropped.push(path) }), dropped };
  } catch (error) {
    return { error: (error as Error).message };
  }
}

const lenient = (schema: Schema) => ({ ...schema, lenient: true, keepEmpty: true }) as Schema;

const FIELDS: Fields = {
  text: s.string(),
  word: s.string({ default: 'a' }),
  count: s.int32({ default: 1 }),
  amount: s.quantity(),
  list: s.list(s.string()),
  zeroList: s.list(s.string(), { zero: true }),
  map: s.map(s.string()),
  inner: s.object('Inner', { a: s.string({ default: 'b' }) }, { zero: true }),
  free: s.any(),
  kept: lenient(s.string()),
  keptNull: { ...lenient(s.string()), nullable: true } as Schema,
  preset: s.object('Preset', { a: s.string() }, { default: { a: 'c' } }),
  computed: s.string({ default: (parent: any) => parent.text }),
  derived: s.string({ derive: (parent: any) => parent.text }),
};

const INPUTS: readonly unknown[] = [
  {},
  { text: 'a', word: '', count: 2, amount: '1000m', list: ['a', null], map: { a: 'b' }, free: { x: [1] } },
  { text: null, kept: null, keptNull: null, list: [], map: {}, zeroList: null, other: null },
  { kept: 5, keptNull: {}, inner: { a: 'x', other: 1 }, other: { a: 1 }, derived: 'given', computed: 'given' },
  JSON.parse('{"__proto__":{"a":1},"constructor":"a","toString":1}'),
  { text: 5 },
  { inner: { a: [] } },
  { count: 2 ** 40 },
  { amount: 'none' },
  [],
  'text',
];

it.each([
  ['', {}],
  ['that keeps unknown fields', { preserveUnknown: true }],
  ['that keeps what it is not', { lenient: true }],
])('an object with many fields is decoded like one with few %s', (_, more) => {
  const few = objectOf(FIELDS, more);
  const many = objectOf({ ...FIELDS, ...fillers(200) }, more);
  for (const input of INPUTS) {
    expect(outcome(many, input)).toEqual(outcome(few, input));
    const from = { text: 'a', inner: (input as { inner?: object }).inner };
    expect(outcome(many, input, { from })).toEqual(outcome(few, input, { from }));
  }
});

it('an object with many fields has no generated code of its own: it would take long to compile', () => {
  const generated = vi.spyOn(globalThis, 'Function');
  const schema = objectOf({ in: objectOf(fillers(1_000)), ...fillers(1_000) });
  expect(decode(schema, { filler0: 'a', filler999: 'b', in: { filler5: 'c' } })).toEqual({
    ...{ filler0: 'a', filler999: 'b', in: { filler5: 'c' } },
  });
  expect(Math.max(0, ...generated.mock.calls.map((sources) => sources.join().length))).toBeLessThan(1_000);
});
