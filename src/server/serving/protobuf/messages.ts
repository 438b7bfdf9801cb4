/**
 * Decodes protobuf messages into the trees that a JSON parser would produce for the same objects. Names and types of
 * fields come from the schema of a shape, their numbers from `kinds/protobuf/`. The reader of a shape is built with its
 * first message.
 */
import { getOrInsert } from '../../../base/collections/get-or-insert.ts';
import { countParts } from '../../../base/json/size.ts';
import { put, type Tree } from '../../../base/json/tree.ts';
import { JSONSchemaProps } from '../../../kinds/groups/extension/apiextensions/json-schema-props.ts';
import { fieldNumbers } from '../../../kinds/protobuf/all.ts';
import { parseFields } from '../../../kinds/protobuf/field-numbers.ts';
import type { ProtoReader } from '../../../protocols/protobuf/reader.ts';
import type { Fields, LazySchema, ListSchema, MapSchema, ObjectSchema, Schema } from '../../../schema/schema.ts';
import { DecodeError } from '../codec/decode-error.ts';
import { decodeJson, MAX_BODY_PARTS, tooManyParts } from '../codec/json.ts';
import type { Definition, Definitions } from '../openapi/definitions.ts';
import { inner, readIntOrString, readNumber, readString, readText } from './scalars.ts';

/** Reads the value of the current field. */
type ReadValue = (wire: ProtoReader, depth: number) => unknown;
/** Reads the value of the current field into its object. */
type ReadField = (wire: ProtoReader, into: Tree, depth: number) => void;

export class Messages {
  #schemas: ReadValue | undefined;
  readonly #readers = new Map<string, ReadonlyMap<number, ReadField>>();
  /** Number of fields and list items of the message so far, including unknown fields. */
  #parts = 0;

  /** `depth`: the maximum nesting of messages. */
  constructor(
    private readonly definitions: Definitions,
    private readonly depth: number,
  ) {}

  /** Reads a message of a definition's shape. */
  read(definition: Definition, wire: ProtoReader): Tree {
    const object: Tree = {};
    this.#parts = 0;
    this.#into(object, wire, this.#readersOf(definition), 0);
    return object;
  }

  /** Counts fields and list items, with the limit for JSON: a field takes two bytes. */
  #count(parts: number): void {
    this.#parts += parts;
    if (this.#parts > MAX_BODY_PARTS) throw tooManyParts();
  }

  #into(object: Tree, wire: ProtoReader, readers: ReadonlyMap<number, ReadField>, depth: number): void {
    if (depth > this.depth) throw new DecodeError(`the body is nested deeper than ${this.depth} levels`);
    for (let field = wire.next(); field; field = wire.next()) {
      this.#count(1);
      const read = readers.get(field);
      if (read) read(wire, object, depth);
      else wire.skip();
    }
  }

  #readersOf({ name, home, shape }: Definition): ReadonlyMap<number, ReadField> {
    return getOrInsert(this.#readers, name, () => this.#compile(home, shape.name, shape.fields));
  }

  #compile(home: string, shape: string, fields: Fields): Map<number, ReadField> {
    const readers = new Map<number, ReadField>();
    for (const { number, name, keepsZero, isInline } of parseFields(fieldNumbers(home, shape) ?? '')) {
      if (isInline) {
        const others = this.#compile(home, name, fields);
        readers.set(number, (wire, into, depth) => this.#into(into, inner(wire), others, depth + 1));
        continue;
      }
      const schema = fields[name];
      if (schema) readers.set(number, this.#field(name, schema, { home, keepsZero }));
    }
    return readers;
  }

  #field(name: string, schema: Schema, { home, keepsZero }: FieldContext): ReadField {
    if (schema.type === 'list') return this.#list(name, schema, home);
    if (schema.type === 'map') return this.#map(name, schema, home);
    const read = this.#value(schema, home);
    return (wire, into, depth) => {
      const value = read(wire, depth);
      const isAbsent = value === undefined || (!keepsZero && (value === '' || value === 0 || value === false));
      if (!isAbsent) into[name] = value;
      // The last occurrence of a repeated field counts.
      else if (into[name] !== undefined) delete into[name];
    };
  }

  /** Reads a list. Numbers can be packed: all of them in one field. */
  #list(name: string, { items }: ListSchema, home: string): ReadField {
    const read = this.#value(items, home);
    const isNumber = items.type === 'integer';
    return (wire, into, depth) => {
      into[name] ??= [];
      const list = into[name] as unknown[];
      if (!isNumber) list.push(read(wire, depth) ?? null);
      else {
        const numbers = wire.signedList(MAX_BODY_PARTS);
        this.#count(numbers.length - 1);
        for (const number of numbers) list.push(number);
      }
    };
  }

  /** Reads a map. Each entry is a message with a key and a value, both of which are omitted when empty. */
  #map(name: string, { values }: MapSchema, home: string): ReadField {
    const read = this.#value(values, home);
    return (wire, into, depth) => {
      into[name] ??= {};
      let key = '';
      let value: unknown;
      wire.message((entry) => {
        for (let field = entry.next(); field; field = entry.next()) {
          if (field === 1) key = readText(entry);
          else if (field === 2) value = read(entry, depth + 1);
          else entry.skip();
        }
      });
      if (key === '__proto__') throw new DecodeError('the key "__proto__" is not allowed');
      put(into[name] as Tree, key, value ?? null);
    };
  }

  #value(schema: Schema, home: string): ReadValue {
    switch (schema.type) {
      case 'string':
        return (wire) => readString(wire, schema.format);
      case 'integer':
        return (wire) => wire.signed();
      case 'boolean':
        return (wire) => wire.signed() !== 0;
      case 'number':
        return (wire) => readNumber(wire);
      case 'intOrString':
        return (wire) => readIntOrString(inner(wire));
      case 'any':
        return (wire) => this.#raw(inner(wire));
      case 'list':
        return this.#wrapped(schema, home);
      case 'object':
        return this.#object(schema, home);
      case 'lazy':
        return this.#lazy(schema, home);
      case 'map':
        throw new Error('no message holds a map of maps');
      default:
        return schema satisfies never;
    }
  }

  #lazy(schema: LazySchema, home: string): ReadValue {
    let read: ReadValue | undefined;
    return (wire, depth) => {
      read ??= this.#value(schema.resolve(), home);
      return read(wire, depth);
    };
  }

  /** Reads a list inside a list or map, which is wrapped in a message. */
  #wrapped(schema: ListSchema, home: string): ReadValue {
    const items = this.#list('items', schema, home);
    const readers = new Map([[1, items]]);
    return (wire, depth) => {
      const holder: { items?: unknown } = {};
      this.#into(holder, inner(wire), readers, depth + 1);
      return holder.items ?? [];
    };
  }

  #object(schema: ObjectSchema, home: string): ReadValue {
    if (schema.name === 'JSON') return (wire) => this.#raw(inner(wire));
    const union = schemaUnions.get(schema.name);
    if (union) {
      return (wire, depth) =>
        union(inner(wire), {
          schema: (each) => this.#schema(home)(each, depth + 1),
          count: () => this.#count(1),
        });
    }
    const definition = this.definitions.all.get(this.definitions.nameOf(schema, home));
    if (!definition) throw new Error(`${schema.name} of ${home} is not published`);
    return (wire, depth) => {
      const object: Tree = {};
      wire.message(() => this.#into(object, wire, this.#readersOf(definition), depth + 1));
      return object;
    };
  }

  /** Reads a schema inside the schema of a custom kind. */
  #schema(home: string): ReadValue {
    this.#schemas ??= this.#object(JSONSchemaProps, home);
    return this.#schemas;
  }

  /** Reads free-form data, which is JSON inside protobuf. */
  #raw(wire: ProtoReader): unknown {
    let value: unknown;
    for (let field = wire.next(); field; field = wire.next()) {
      if (field === 1) {
        const json = wire.bytes();
        this.#count(countParts(json, MAX_BODY_PARTS));
        value = decodeJson(json, this.depth);
      } else wire.skip();
    }
    return value;
  }
}

interface FieldContext {
  readonly home: string;
  readonly keepsZero: boolean;
}

interface Reading {
  /** Reads the schema in the current field. */
  schema(wire: ProtoReader): unknown;
  /** Called for every field. */
  count(): void;
}

/**
 * The union types of JSON schemas in a custom resource definition: in protobuf each is a message of its own. `JSON`
 * contains the value as text, the others have a field for each form.
 */
type ReadUnion = (wire: ProtoReader, reading: Reading) => unknown;

/** Readers by the name of the shape; `wire` reads the message. */
const schemaUnions: ReadonlyMap<string, ReadUnion> = new Map([
  ['JSONSchemaPropsOrArray', oneOrMany((wire, { schema }) => schema(wire))],
  ['JSONSchemaPropsOrStringArray', oneOrMany((wire) => readText(wire))],
  ['JSONSchemaPropsOrBool', schemaOrFlag],
]);

/** Reads a schema in the first field, or a list in the second. */
function oneOrMany(item: ReadUnion): ReadUnion {
  return (wire, reading) => {
    let one: unknown;
    const many: unknown[] = [];
    for (let field = wire.next(); field; field = wire.next()) {
      reading.count();
      if (field === 1) one = reading.schema(wire);
      else if (field === 2) many.push(item(wire, reading));
      else wire.skip();
    }
    return many.length > 0 ? many : one;
  };
}

/** Reads a boolean in the first field, which tells whether there may be values, or their schema in the second. */
function schemaOrFlag(wire: ProtoReader, { schema, count }: Reading): unknown {
  let allows = false;
  let values: unknown;
  for (let field = wire.next(); field; field = wire.next()) {
    count();
    if (field === 1) allows = wire.signed() !== 0;
    else if (field === 2) values = schema(wire);
    else wire.skip();
  }
  return values ?? allows;
}
