/**
 * Reads messages into trees, as a JSON parser would have made them from what the same client writes in JSON. What a field
 * is called and how deep it goes, the description of its shape says; which number it has, `kinds/protobuf/` does. A
 * shape's reader is compiled when the first message of it comes.
 */
import { put, type Tree } from '../../base/tree.ts';
import { fieldNumbers } from '../../kinds/protobuf/all.ts';
import { parseFields } from '../../kinds/protobuf/field-numbers.ts';
import type { Fields, ListSchema, MapSchema, ObjectSchema, Schema } from '../../schema/schema.ts';
import { DecodeError } from '../http/decode-error.ts';
import { decodeJson } from '../http/json.ts';
import type { Definition, Definitions } from '../openapi/definitions.ts';
import { readIntOrString, readString } from './scalars.ts';
import { DELIMITED, type Wire } from './wire.ts';

/** Reads the value of the field that the wire is at. */
type ReadValue = (wire: Wire, depth: number) => unknown;
/** Reads it into the object that has the field. */
type ReadField = (wire: Wire, into: Tree, depth: number) => void;

export class Messages {
  readonly #definitions: Definitions;
  readonly #depth: number;
  readonly #readers = new Map<string, ReadonlyMap<number, ReadField>>();

  /** @param depth how many messages may stand inside each other */
  constructor(definitions: Definitions, depth: number) {
    this.#definitions = definitions;
    this.#depth = depth;
  }

  /** Reads a message of a definition's shape; undefined where it has no protobuf form. */
  read(definition: Definition, wire: Wire): Tree | undefined {
    if (!fieldNumbers(definition.home, definition.shape.name)) return undefined;
    const object: Tree = {};
    this.#into(object, wire, this.#readersOf(definition), 0);
    return object;
  }

  #into(object: Tree, wire: Wire, readers: ReadonlyMap<number, ReadField>, depth: number): void {
    if (depth > this.#depth) throw new DecodeError(`the body is nested deeper than ${this.#depth} levels`);
    while (wire.next()) {
      const read = readers.get(wire.number);
      if (read) read(wire, object, depth);
      else wire.skip();
    }
  }

  #readersOf({ name, home, shape }: Definition): ReadonlyMap<number, ReadField> {
    let readers = this.#readers.get(name);
    if (!readers) {
      readers = this.#compile(home, shape.name, shape.fields);
      this.#readers.set(name, readers);
    }
    return readers;
  }

  #compile(home: string, shape: string, fields: Fields): Map<number, ReadField> {
    const readers = new Map<number, ReadField>();
    for (const { number, name, keepsZero, isInline } of parseFields(fieldNumbers(home, shape) ?? '')) {
      if (isInline) {
        const inner = this.#compile(home, name, fields);
        readers.set(number, (wire, into, depth) => this.#into(into, wire.message(), inner, depth + 1));
        continue;
      }
      const schema = fields[name];
      if (schema) readers.set(number, this.#field(name, schema, { home, keepsZero }));
    }
    return readers;
  }

  #field(name: string, schema: Schema, { home, keepsZero }: Place): ReadField {
    if (schema.type === 'list') return this.#list(name, schema, home);
    if (schema.type === 'map') return this.#map(name, schema, home);
    const read = this.#value(schema, home);
    return (wire, into, depth) => {
      const value = read(wire, depth);
      if (value === undefined || (!keepsZero && (value === '' || value === 0 || value === false))) return;
      into[name] = value;
    };
  }

  /** Numbers can also come packed: all of them in one field. */
  #list(name: string, { items }: ListSchema, home: string): ReadField {
    const read = this.#value(items, home);
    const isPackable = items.type === 'integer';
    return (wire, into, depth) => {
      into[name] ??= [];
      const list = into[name] as unknown[];
      if (!isPackable || wire.type !== DELIMITED) return void list.push(read(wire, depth));
      const packed = wire.message();
      while (!packed.isEmpty) list.push(packed.bareInteger());
    };
  }

  /** An entry is a message with a key and a value; either is left out where it is empty. */
  #map(name: string, { values }: MapSchema, home: string): ReadField {
    const read = this.#value(values, home);
    return (wire, into, depth) => {
      into[name] ??= {};
      const entry = wire.message();
      let key = '';
      let value: unknown;
      while (entry.next()) {
        if (entry.number === 1) key = entry.text();
        else if (entry.number === 2) value = read(entry, depth + 1);
        else entry.skip();
      }
      if (key === '__proto__') throw new DecodeError('the key "__proto__" is not allowed');
      put(into[name] as Tree, key, value ?? null);
    };
  }

  #value(schema: Schema, home: string): ReadValue {
    switch (schema.type) {
      case 'string':
        return (wire) => readString(wire, schema.format);
      case 'integer':
        return (wire) => wire.integer();
      case 'boolean':
        return (wire) => wire.integer() !== 0;
      case 'number':
        return (wire) => wire.double();
      case 'intOrString':
        return (wire) => readIntOrString(wire.message());
      case 'any':
        return (wire) => this.#raw(wire.message());
      case 'list':
        return this.#wrapped(schema, home);
      case 'object':
        return this.#object(schema, home);
      case 'lazy':
        return (wire, depth) => this.#value(schema.resolve(), home)(wire, depth);
      case 'map':
        throw new Error('no message holds a map of maps');
      default:
        return schema satisfies never;
    }
  }

  /** A list that is itself an item or a value is a message with a list in it. */
  #wrapped(schema: ListSchema, home: string): ReadValue {
    const items = this.#list('items', schema, home);
    const readers = new Map([[1, items]]);
    return (wire, depth) => {
      const holder: { items?: unknown } = {};
      this.#into(holder, wire.message(), readers, depth + 1);
      return holder.items ?? [];
    };
  }

  #object(schema: ObjectSchema, home: string): ReadValue {
    const definition = this.#definitions.all.get(this.#definitions.nameOf(schema, home));
    if (!definition) throw new Error(`${schema.name} of ${home} is not published`);
    return (wire, depth) => {
      const object: Tree = {};
      this.#into(object, wire.message(), this.#readersOf(definition), depth + 1);
      return object;
    };
  }

  /** Free-form data is JSON inside of protobuf. */
  #raw(wire: Wire): unknown {
    let value: unknown;
    while (wire.next()) {
      if (wire.number === 1) value = decodeJson(wire.bytes(), this.#depth);
      else wire.skip();
    }
    return value;
  }
}

interface Place {
  readonly home: string;
  readonly keepsZero: boolean;
}
