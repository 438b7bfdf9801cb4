/**
 * Describes protobuf messages (proto3) as tables of fields, from which encoding, decoding and types derive. A message
 * is encoded from an object in which every field may be absent, and decoded to one in which absent fields have their
 * default: empty strings and lists, zero, false, and undefined for messages.
 */
import { ProtoReader } from './reader.ts';
import { ProtoWriter } from './writer.ts';

interface FieldType<In, Out> {
  /** The value of a field that is absent. */
  readonly absent: Out;
  /** Reports whether a value is the default, which is not written. */
  isDefault(value: In): boolean;
  write(out: ProtoWriter, field: number, value: In): void;
  /** Reads an occurrence of the field; `soFar` is the value after the previous ones. */
  read(reader: ProtoReader, soFar: Out): Out;
}

interface Field<In, Out> {
  readonly number: number;
  readonly type: FieldType<In, Out>;
}

type Fields = Readonly<Record<string, Field<never, unknown>>>;
type InputOf<F extends Fields> = {
  readonly [Name in keyof F]?: (F[Name] extends Field<infer In, infer _> ? In : never) | undefined;
};
type OutputOf<F extends Fields> = {
  readonly [Name in keyof F]: F[Name] extends Field<infer _, infer Out> ? Out : never;
};

export interface Message<In, Out> {
  encode(value: In): Buffer;
  decode(bytes: Buffer): Out;
  /** The type for a field of another message. */
  readonly type: FieldType<In, Out | undefined>;
}

/** The input from which a message is encoded. */
export type Encodable<M> = M extends Message<infer In, infer _> ? In : never;
/** The result of decoding a message. */
export type Decoded<M> = M extends Message<infer _, infer Out> ? Out : never;

/** Shared by all messages, since each is encoded synchronously. */
const shared = new ProtoWriter(16_384);

export function message<F extends Fields>(fields: F): Message<InputOf<F>, OutputOf<F>> {
  const entries = Object.entries(fields);
  // Messages are written backwards.
  const backwards = entries.toSorted(([, a], [, b]) => b.number - a.number);
  const byNumber = new Map(entries.map((entry) => [entry[1].number, entry]));
  const absent = Object.fromEntries(entries.map(([name, { type }]) => [name, type.absent]));

  const write = (out: ProtoWriter, value: InputOf<F>) => {
    for (const [name, { number, type }] of backwards) {
      const each = value[name] as never;
      if (each !== undefined && !type.isDefault(each)) type.write(out, number, each);
    }
  };
  const read = (reader: ProtoReader): OutputOf<F> => {
    const value: Record<string, unknown> = { ...absent };
    for (let number = reader.next(); number; number = reader.next()) {
      const entry = byNumber.get(number);
      if (!entry) reader.skip();
      else value[entry[0]] = entry[1].type.read(reader, value[entry[0]]);
    }
    return value as OutputOf<F>;
  };
  return {
    encode: (value) => {
      write(shared, value);
      return shared.finish();
    },
    decode: (bytes) => read(new ProtoReader(bytes)),
    type: {
      absent: undefined,
      isDefault: () => false,
      write: (out, number, value) => out.message(number, () => write(out, value)),
      read: (reader) => reader.message(read),
    },
  };
}

export function field<In, Out>(number: number, type: FieldType<In, Out>): Field<In, Out> {
  return { number, type };
}

export const text: FieldType<string, string> = {
  absent: '',
  isDefault: (value) => value === '',
  write: (out, number, value) => out.string(number, value),
  read: (reader) => reader.string(),
};

const NO_BYTES = Buffer.alloc(0);

/** Decoded bytes share the memory of the message. */
export const bytes: FieldType<Buffer, Buffer> = {
  absent: NO_BYTES,
  isDefault: (value) => value.length === 0,
  write: (out, number, value) => out.bytes(number, value),
  read: (reader) => reader.bytes(),
};

export const flag: FieldType<boolean, boolean> = {
  absent: false,
  isDefault: (value) => !value,
  write: (out, number, value) => out.boolean(number, value),
  read: (reader) => reader.boolean(),
};

/** Any of the types int32, int64, uint32 and uint64, exact up to 2^53. */
export const integer: FieldType<number, number> = {
  absent: 0,
  isDefault: (value) => value === 0,
  write: (out, number, value) => out.signed(number, value),
  read: (reader) => reader.signed(),
};

/** Names of an enum in the order of their numbers, from zero. A number without a name is decoded as undefined. */
export function oneOf<Name extends string>(names: readonly [Name, ...Name[]]): FieldType<Name, Name | undefined> {
  return {
    absent: names[0],
    isDefault: (value) => value === names[0],
    write: (out, number, value) => out.number(number, names.indexOf(value)),
    read: (reader) => names[reader.number()],
  };
}

/** Lists of numbers are written unpacked, which every decoder accepts. */
export function list<In, Out>(type: FieldType<In, Out>): FieldType<readonly In[], readonly Exclude<Out, undefined>[]> {
  const none: readonly Exclude<Out, undefined>[] = [];
  return {
    absent: none,
    isDefault: (values) => values.length === 0,
    write: (out, number, values) => {
      for (let i = values.length - 1; i >= 0; i--) type.write(out, number, values[i]!);
    },
    read: (reader, soFar) => {
      // After the first occurrence, `soFar` is the list created here.
      const values = soFar === none ? [] : (soFar as Exclude<Out, undefined>[]);
      values.push(type.read(reader, type.absent) as Exclude<Out, undefined>);
      return values;
    },
  };
}

const Entry = message({ key: field(1, text), value: field(2, text) });

const NO_TEXTS: Readonly<Record<string, string>> = {};

/** A map from string to string. */
export const texts: FieldType<Readonly<Record<string, string>>, Readonly<Record<string, string>>> = {
  absent: NO_TEXTS,
  isDefault: (value) => Object.keys(value).length === 0,
  write: (out, number, value) => {
    for (const [key, each] of Object.entries(value).reverse()) Entry.type.write(out, number, { key, value: each });
  },
  read: (reader, soFar) => {
    const { key, value } = Entry.type.read(reader, undefined)!;
    // After the first entry, `soFar` is the map created here: copying it for every entry would take quadratic time.
    const map = soFar === NO_TEXTS ? {} : soFar;
    // Defines the property, because a key may be one that objects have already.
    Object.defineProperty(map, key, { value, writable: true, enumerable: true, configurable: true });
    return map;
  },
};

const Wrapper = message({ value: field(1, integer) });

/** Int64Value or UInt64Value: a number that can be absent, unlike zero. */
export const optionalInteger: FieldType<number, number | undefined> = {
  absent: undefined,
  isDefault: () => false,
  write: (out, number, value) => Wrapper.type.write(out, number, { value }),
  read: (reader) => Wrapper.type.read(reader, undefined)?.value,
};
