/**
 * Encodes objects as protobuf messages: the counterpart of messages.ts. The writer of a shape is built with its first
 * object. Distinctions that matter to Go clients (absent or zero, no message or an empty one) are preserved.
 */
import { getOrInsert } from '../../../base/collections/get-or-insert.ts';
import { rawJson } from '../../../base/json/raw-json.ts';
import type { Tree } from '../../../base/json/tree.ts';
import { JSONSchemaProps } from '../../../kinds/groups/extension/apiextensions/json-schema-props.ts';
import { fieldNumbers } from '../../../kinds/protobuf/all.ts';
import { parseFields } from '../../../kinds/protobuf/field-numbers.ts';
import { ProtoWriter } from '../../../protocols/protobuf/writer.ts';
import type { Fields, LazySchema, ObjectSchema, Schema } from '../../../schema/schema.ts';
import { fieldsJson } from '../../objects/managed-fields/stored/interned-sets.ts';
import type { Definition, Definitions } from '../openapi/definitions.ts';
import { stringWriter, type WriteValue, writeIntOrString } from './scalar-writers.ts';

interface FieldWriter {
  readonly name: string;
  readonly number: number;
  readonly write: WriteValue;
  /** Writers of an embedded message, whose fields belong to the object itself. */
  readonly inline?: readonly FieldWriter[];
}

const BUFFER_BYTES = 64 * 1024;

export class MessageWriters {
  readonly #out = new ProtoWriter(BUFFER_BYTES);
  readonly #writers = new Map<string, readonly FieldWriter[]>();
  #schemas: WriteValue | undefined;

  constructor(private readonly definitions: Definitions) {}

  /** Encodes an object of a definition's shape, without an envelope. */
  encode(definition: Definition, object: object): Buffer {
    try {
      writeFields(this.#out, this.#writersOf(definition), object as Tree);
    } catch (error) {
      // Discards the partial message, which must not become part of the next one.
      this.#out.finish();
      throw error;
    }
    return this.#out.finish();
  }

  /** Returns the writers by descending field number: messages are written from their end. */
  #writersOf({ name, home, shape }: Definition): readonly FieldWriter[] {
    return getOrInsert(this.#writers, name, () => this.#compile(home, shape.name, shape.fields));
  }

  #compile(home: string, shape: string, fields: Fields): FieldWriter[] {
    const writers: FieldWriter[] = [];
    for (const { number, name, isInline } of parseFields(fieldNumbers(home, shape) ?? '')) {
      if (isInline) {
        writers.push({ name, number, write: () => undefined, inline: this.#compile(home, name, fields) });
        continue;
      }
      const schema = fields[name];
      if (schema) writers.push({ name, number, write: this.#field(name, schema, home) });
    }
    return writers.sort((a, b) => b.number - a.number);
  }

  #field(name: string, schema: Schema, home: string): WriteValue {
    switch (schema.type) {
      case 'list':
        return listWriter(this.#value(schema.items, home));
      case 'map':
        return mapWriter(this.#value(schema.values, home));
      case 'any':
        // Encodes managed fields without the escapes of Go: nobody compares their bytes, and every object has them.
        return name === 'fieldsV1' ? rawWriter(fieldsJson) : rawWriter(rawJson);
      default:
        return this.#value(schema, home);
    }
  }

  #value(schema: Schema, home: string): WriteValue {
    switch (schema.type) {
      case 'string':
        return stringWriter(schema.format);
      case 'integer':
        return (out, number, value: number) => out.signed(number, value);
      case 'boolean':
        return (out, number, value: boolean) => out.boolean(number, value);
      case 'number':
        return (out, number, value: number) => out.double(number, value);
      case 'intOrString':
        return writeIntOrString;
      case 'any':
        return rawWriter(rawJson);
      case 'list':
        return wrapped(listWriter(this.#value(schema.items, home)));
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

  #lazy(schema: LazySchema, home: string): WriteValue {
    let write: WriteValue | undefined;
    return (out, number, value) => {
      write ??= this.#value(schema.resolve(), home);
      write(out, number, value);
    };
  }

  #object(schema: ObjectSchema, home: string): WriteValue {
    if (schema.name === 'JSON') return rawWriter(rawJson);
    const union = unionWriters.get(schema.name);
    if (union) return union((out, number, value) => this.#schema(home)(out, number, value));
    const definition = this.definitions.all.get(this.definitions.nameOf(schema, home));
    if (!definition) throw new Error(`${schema.name} of ${home} is not published`);
    let writers: readonly FieldWriter[] | undefined;
    return (out, number, value) => {
      writers ??= this.#writersOf(definition);
      const end = out.length;
      writeFields(out, writers, value);
      out.wrap(number, end);
    };
  }

  /** Returns the writer of a schema inside the schema of a custom kind. */
  #schema(home: string): WriteValue {
    this.#schemas ??= this.#object(JSONSchemaProps, home);
    return this.#schemas;
  }
}

function writeFields(out: ProtoWriter, writers: readonly FieldWriter[], object: Tree): void {
  for (const { name, number, write, inline } of writers) {
    if (inline) {
      const end = out.length;
      writeFields(out, inline, object);
      if (out.length > end) out.wrap(number, end);
      continue;
    }
    const value = object[name];
    if (value !== undefined && value !== null) write(out, number, value as never);
  }
}

function listWriter(item: WriteValue): WriteValue {
  return (out, number, list: readonly never[]) => {
    for (let index = list.length - 1; index >= 0; index--) item(out, number, list[index]!);
  };
}

/** Returns the writer of a map, whose entries are sorted by key, as in Go. */
function mapWriter(each: WriteValue): WriteValue {
  return (out, number, map: Readonly<Record<string, never>>) => {
    const keys = Object.keys(map).sort();
    for (let index = keys.length - 1; index >= 0; index--) {
      const key = keys[index]!;
      const value = map[key];
      const end = out.length;
      if (value !== undefined && value !== null) each(out, 2, value);
      out.string(1, key);
      out.wrap(number, end);
    }
  };
}

/** Returns the writer of a list inside a list or map, which is a separate message. */
function wrapped(list: WriteValue): WriteValue {
  return (out, number, value) => {
    const end = out.length;
    list(out, 1, value);
    out.wrap(number, end);
  };
}

/** Returns the writer of free-form data, which is JSON inside protobuf. */
function rawWriter(json: (value: unknown) => string): WriteValue {
  return (out, number, value) => {
    const end = out.length;
    out.string(1, json(value));
    out.wrap(number, end);
  };
}

type UnionWriter = (schema: WriteValue) => WriteValue;

/** Writers by the name of the shape. */
const unionWriters: ReadonlyMap<string, UnionWriter> = new Map<string, UnionWriter>([
  ['JSONSchemaPropsOrArray', (schema) => oneOrMany(schema, schema)],
  ['JSONSchemaPropsOrStringArray', (schema) => oneOrMany(schema, writeText)],
  ['JSONSchemaPropsOrBool', schemaOrFlag],
]);

function oneOrMany(one: WriteValue, many: WriteValue): WriteValue {
  return (out, number, value: never) => {
    const end = out.length;
    if (Array.isArray(value)) for (const item of [...value].reverse()) many(out, 2, item as never);
    else one(out, 1, value);
    out.wrap(number, end);
  };
}

function schemaOrFlag(schema: WriteValue): WriteValue {
  return (out, number, value: never) => {
    const end = out.length;
    const isFlag = typeof value === 'boolean';
    if (!isFlag) schema(out, 2, value);
    // A schema implies that values are allowed.
    out.boolean(1, isFlag ? value : true);
    out.wrap(number, end);
  };
}

function writeText(out: ProtoWriter, number: number, value: string): void {
  out.string(number, value);
}
