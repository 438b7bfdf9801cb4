import { expect, it } from 'vitest';
import { fc, forAll } from '../../../test/support/property-runs.ts';
import { ProtobufError, ProtoReader } from './reader.ts';
import { ProtoWriter } from './writer.ts';

type Value =
  | { readonly type: 'number'; readonly value: number }
  | { readonly type: 'boolean'; readonly value: boolean }
  | { readonly type: 'bytes'; readonly value: Buffer }
  | { readonly type: 'string'; readonly value: string }
  | { readonly type: 'message'; readonly value: readonly Field[] };
type Field = readonly [number: number, value: Value];

const numbers = fc.oneof(fc.nat(300), fc.maxSafeNat());
const { message } = fc.letrec<{ message: readonly Field[]; value: Value }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4 },
    numbers.map((value) => ({ type: 'number' as const, value })),
    fc.boolean().map((value) => ({ type: 'boolean' as const, value })),
    fc.uint8Array({ maxLength: 300 }).map((bytes) => ({ type: 'bytes' as const, value: Buffer.from(bytes) })),
    fc.string({ unit: 'grapheme' }).map((value) => ({ type: 'string' as const, value })),
    tie('message').map((value) => ({ type: 'message' as const, value })),
  ),
  message: fc.array(fc.tuple(fc.integer({ min: 1, max: 2 ** 29 - 1 }), tie('value')), { maxLength: 5 }),
}));

function write(out: ProtoWriter, fields: readonly Field[]): void {
  for (const [number, { type, value }] of fields.toReversed()) {
    if (type === 'number') out.number(number, value);
    else if (type === 'boolean') out.boolean(number, value);
    else if (type === 'bytes') out.bytes(number, value);
    else if (type === 'string') out.string(number, value);
    else out.message(number, () => write(out, value));
  }
}

/** Reads the fields in the order written, and skips those that `skips` selects. */
function read(reader: ProtoReader, fields: readonly Field[], skips: (index: number) => boolean): Field[] {
  const found: Field[] = [];
  for (let number = reader.next(), index = 0; number; number = reader.next(), index++) {
    const field = fields[index]!;
    if (skips(index)) {
      reader.skip();
      found.push(field);
    } else {
      found.push([number, readValue(reader, field[1], skips)]);
    }
  }
  return found;
}

function readValue(reader: ProtoReader, { type, value }: Value, skips: (index: number) => boolean): Value {
  switch (type) {
    case 'number':
      return { type, value: reader.number() };
    case 'boolean':
      return { type, value: reader.boolean() };
    case 'bytes':
      return { type, value: reader.bytes() };
    case 'string':
      return { type, value: reader.string() };
    case 'message':
      return { type, value: reader.message((inner) => read(inner, value, skips)) };
  }
}

const out = new ProtoWriter(64);

it('protobuf is decoded as it was encoded, with any fields skipped', () => {
  forAll(message, fc.nat(7), (fields, skipped) => {
    write(out, fields);
    const bytes = out.finish();
    expect(read(new ProtoReader(bytes), fields, () => false)).toEqual(fields);
    expect(read(new ProtoReader(bytes), fields, (index) => (skipped >> (index % 3)) % 2 === 1)).toEqual(fields);
  });
});

it('protobuf of one message is not overwritten by the next', () => {
  write(out, [[1, { type: 'string', value: 'first' }]]);
  const first = out.finish();
  write(out, [[1, { type: 'bytes', value: Buffer.alloc(1000, 1) }]]);
  const second = out.finish();
  write(out, [[1, { type: 'string', value: 'third' }]]);
  out.finish();
  expect(first.toString('latin1')).toBe('\x0a\x05first');
  expect(second.subarray(3)).toEqual(Buffer.alloc(1000, 1));
});

it('protobuf is rejected when malformed, whatever the bytes are', () => {
  const anything = (reader: ProtoReader, depth: number): void => {
    for (let field = reader.next(); field; field = reader.next()) {
      if (field % 2 === 0 && depth < 5) reader.message((inner) => anything(inner, depth + 1));
      else reader.skip();
    }
  };
  forAll(fc.uint8Array({ maxLength: 40 }), (bytes) => {
    try {
      anything(new ProtoReader(Buffer.from(bytes)), 0);
    } catch (error) {
      expect(error).toBeInstanceOf(ProtobufError);
    }
  });
});

it.each([
  ['a field that is cut off', '0a05616263', (reader: ProtoReader) => reader.bytes()],
  ['a number that is cut off', '0880', (reader: ProtoReader) => reader.number()],
  ['a number without end', '08ffffffffffffffffffffff', (reader: ProtoReader) => reader.number()],
  ['another type than asked for', '0801', (reader: ProtoReader) => reader.bytes()],
  ['a type that nobody uses', '0b', (reader: ProtoReader) => reader.skip()],
  [
    'a field that is longer than its message',
    '0a020a05',
    (reader: ProtoReader) => reader.message((r) => r.next() && r.bytes()),
  ],
])('protobuf is rejected with %s', (_, hex, take) => {
  const reader = new ProtoReader(Buffer.from(hex, 'hex'));
  expect(reader.next()).toBe(1);
  expect(() => take(reader)).toThrow(ProtobufError);
});
