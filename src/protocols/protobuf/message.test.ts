import { expect, it } from 'vitest';
import { fc, forAll } from '../../../test/support/property-runs.ts';
import {
  bytes,
  type Decoded,
  type Encodable,
  field,
  flag,
  integer,
  list,
  message,
  oneOf,
  optionalInteger,
  text,
  texts,
} from './message.ts';

const Inner = message({ name: field(1, text), count: field(2, integer) });
const Outer = message({
  name: field(1, text),
  data: field(2, bytes),
  isSet: field(3, flag),
  count: field(4, integer),
  color: field(5, oneOf(['red', 'green', 'blue'])),
  names: field(6, list(text)),
  numbers: field(7, list(integer)),
  inner: field(8, Inner.type),
  inners: field(9, list(Inner.type)),
  labels: field(17, texts),
  limit: field(18, optionalInteger),
});

const numbers = fc.oneof(fc.nat(300), fc.maxSafeInteger());
const words = fc.string({ unit: 'grapheme' });
const inner = fc.record({ name: words, count: numbers });
const outer = fc.record({
  name: words,
  data: fc.uint8Array().map((each) => Buffer.from(each)),
  isSet: fc.boolean(),
  count: numbers,
  color: fc.constantFrom('red', 'green', 'blue'),
  names: fc.array(words),
  numbers: fc.array(numbers),
  inner: fc.option(inner, { nil: undefined }),
  inners: fc.array(inner),
  labels: fc.dictionary(words, words, { noNullPrototype: true }),
  limit: fc.option(numbers, { nil: undefined }),
}) as fc.Arbitrary<Encodable<typeof Outer> & Decoded<typeof Outer>>;

it('a message is decoded to what was encoded', () => {
  forAll(outer, (value) => {
    expect(Outer.decode(Outer.encode(value))).toEqual(value);
  });
});

it('a message omits fields that are absent or have their default', () => {
  expect(Outer.encode({}).length).toBe(0);
  expect(Outer.encode({ name: '', count: 0, names: [], labels: {}, color: 'red', limit: undefined }).length).toBe(0);
  expect(Outer.decode(Buffer.alloc(0))).toEqual({
    name: '',
    data: Buffer.alloc(0),
    isSet: false,
    count: 0,
    color: 'red',
    names: [],
    numbers: [],
    inner: undefined,
    inners: [],
    labels: {},
    limit: undefined,
  });
});

it('a message reads a map with any keys, and the last value of each', () => {
  const bytes = Buffer.concat(
    [
      ['__proto__', 'x'],
      ['constructor', 'y'],
      ['a', '1'],
      ['a', '2'],
    ].map(([key, value]) => Outer.encode({ labels: Object.fromEntries([[key!, value!]]) })),
  );
  expect(Object.entries(Outer.decode(bytes).labels)).toEqual([
    ['__proto__', 'x'],
    ['constructor', 'y'],
    ['a', '2'],
  ]);
  expect(Outer.decode(Buffer.alloc(0)).labels).toEqual({});
});

it('a message has the bytes of the protobuf specification', () => {
  expect(Outer.encode({ name: 'ab', count: -1, color: 'blue', names: ['', 'c'], limit: 0 }).toString('hex')).toBe(
    '0a026162' + '20ffffffffffffffffff01' + '2802' + '3200' + '320163' + '920100',
  );
});

it('a message ignores unknown fields, and decodes unknown enum numbers as undefined', () => {
  const Newer = message({ color: field(5, integer), other: field(99, text) });
  expect(Outer.decode(Newer.encode({ color: 7, other: 'x' }))).toMatchObject({ color: undefined, name: '' });
});
