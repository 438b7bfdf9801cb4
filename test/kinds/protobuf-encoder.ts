/** Writes objects in protobuf as a client in Go does: a text, number or truth that is not set is written as zero. */
import { fieldNumbers } from '../../src/kinds/protobuf/all.ts';
import { type NumberedField, parseFields } from '../../src/kinds/protobuf/field-numbers.ts';
import type { Fields, ObjectSchema, Schema } from '../../src/schema/schema.ts';
import type { Definitions } from '../../src/server/serving/openapi/definitions.ts';

/** A message, and the tree that a reader can find in it. */
interface Written {
  readonly bytes: Buffer;
  readonly tree: any;
}

export class Encoder {
  readonly #definitions: Definitions;
  /** The shapes of objects by the version that uses them: each is written once for each item of a list. */
  readonly #shapes = new Map<string, Map<ObjectSchema, Shape>>();

  constructor(definitions: Definitions) {
    this.#definitions = definitions;
  }

  body(apiVersion: string, schema: ObjectSchema, object: any): Written {
    const { bytes, tree } = this.#fields(shapeOf(apiVersion, schema.name, schema.fields), object);
    const type = Buffer.concat([text(1, apiVersion), text(2, schema.name)]);
    const whole = Buffer.concat([Buffer.from('k8s\0'), delimited(1, type), delimited(2, bytes)]);
    return { bytes: whole, tree: { apiVersion, kind: schema.name, ...tree } };
  }

  #shapeOf(schema: ObjectSchema, home: string): Shape {
    const shapes = this.#shapes.get(home) ?? new Map<ObjectSchema, Shape>();
    this.#shapes.set(home, shapes);
    const known = shapes.get(schema);
    if (known) return known;
    const definition = this.#definitions.all.get(this.#definitions.nameOf(schema, home))!;
    const shape = shapeOf(definition.home, definition.shape.name, definition.shape.fields);
    shapes.set(schema, shape);
    return shape;
  }

  #fields(shape: Shape, object: any): Written {
    const parts: Buffer[] = [];
    const tree: any = {};
    for (const field of shape.numbered) {
      if (field.isInline) {
        const inner = this.#fields(shapeOf(shape.home, field.name, shape.fields), object);
        parts.push(delimited(field.number, inner.bytes));
        Object.assign(tree, inner.tree);
        continue;
      }
      const schema = shape.fields[field.name];
      const value = object[field.name];
      if (schema === undefined || value === undefined || value === null) continue;
      const written = this.#field(field, schema, { value, home: shape.home });
      parts.push(written.bytes);
      if (written.tree !== undefined) tree[field.name] = written.tree;
    }
    return { bytes: Buffer.concat(parts), tree };
  }

  #field({ number, keepsZero }: NumberedField, schema: Schema, { value, home }: FieldPosition): Written {
    if (schema.type === 'list') {
      const items = value.map((item: unknown) => this.#value(number, schema.items, { value: item, home }));
      return joined(items, items.length > 0 ? items.map(({ tree }: Written) => tree) : undefined);
    }
    if (schema.type === 'map') {
      const rows = Object.entries(value).map(([key, each]): [string, Written] => [
        key,
        this.#value(2, schema.values, { value: each, home }),
      ]);
      const entries = rows.map(([key, { bytes }]) => ({
        bytes: delimited(number, Buffer.concat([text(1, key), bytes])),
        tree: undefined,
      }));
      const tree = Object.fromEntries(rows.map(([key, written]) => [key, written.tree]));
      return joined(entries, rows.length > 0 ? tree : undefined);
    }
    const written = this.#value(number, schema, { value, home });
    const isZero = value === '' || value === 0 || value === false;
    return isZero && !keepsZero ? { bytes: written.bytes, tree: undefined } : written;
  }

  #value(number: number, schema: Schema, { value, home }: FieldPosition): Written {
    switch (schema.type) {
      case 'string':
        return string(number, schema.format, String(value));
      case 'integer':
        return { bytes: integer(number, value), tree: value };
      case 'number':
        return { bytes: double(number, value), tree: value };
      case 'boolean':
        return { bytes: integer(number, value ? 1 : 0), tree: value };
      case 'intOrString': {
        const isText = typeof value === 'string';
        const bytes = isText ? [integer(1, 1), text(3, value)] : [integer(1, 0), integer(2, value)];
        return { bytes: delimited(number, Buffer.concat(bytes)), tree: value };
      }
      case 'any':
        return { bytes: delimited(number, delimited(1, Buffer.from(JSON.stringify(value)))), tree: value };
      case 'list': {
        const items = value.map((item: unknown) => this.#value(1, schema.items, { value: item, home }));
        const { bytes } = joined(items, undefined);
        return { bytes: delimited(number, bytes), tree: items.map(({ tree }: Written) => tree) };
      }
      case 'object': {
        const { bytes, tree } = this.#fields(this.#shapeOf(schema, home), value);
        return { bytes: delimited(number, bytes), tree };
      }
      case 'lazy':
        return this.#value(number, schema.resolve(), { value, home });
      default:
        throw new Error(`nothing here is a ${schema.type} of its own`);
    }
  }
}

interface Shape {
  readonly home: string;
  readonly fields: Fields;
  readonly numbered: readonly NumberedField[];
}

function shapeOf(home: string, name: string, fields: Fields): Shape {
  return { home, fields, numbered: parseFields(fieldNumbers(home, name) ?? '') };
}

interface FieldPosition {
  readonly value: any;
  readonly home: string;
}

function string(number: number, format: string | undefined, value: string): Written {
  switch (format) {
    case 'bytes':
      return { bytes: delimited(number, Buffer.from(value, 'base64')), tree: value };
    case 'quantity':
      return { bytes: delimited(number, text(1, value)), tree: value };
    case 'time':
    case 'microTime': {
      const seconds = Math.floor(Date.parse(value) / 1000);
      const nanos = Number(/\.(\d{6})Z$/.exec(value)?.[1] ?? 0) * 1000;
      return { bytes: delimited(number, Buffer.concat([integer(1, seconds), integer(2, nanos)])), tree: value };
    }
    default:
      return { bytes: text(number, value), tree: value };
  }
}

function joined(parts: readonly Written[], tree: unknown): Written {
  return { bytes: Buffer.concat(parts.map(({ bytes }) => bytes)), tree };
}

export function integer(number: number, value: number): Buffer {
  return Buffer.concat([varint(number * 8), varint(value >= 0 ? value : BigInt.asUintN(64, BigInt(value)))]);
}

function double(number: number, value: number): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeDoubleLE(value);
  return Buffer.concat([varint(number * 8 + 1), bytes]);
}

export function text(number: number, value: string): Buffer {
  const length = Buffer.byteLength(value);
  if (number >= 0x10 || length >= 0x80) return delimited(number, Buffer.from(value));
  const bytes = Buffer.allocUnsafe(length + 2);
  bytes[0] = number * 8 + 2;
  bytes[1] = length;
  bytes.write(value, 2);
  return bytes;
}

export function delimited(number: number, bytes: Buffer): Buffer {
  return Buffer.concat([varint(number * 8 + 2), varint(bytes.length), bytes]);
}

const ONE_BYTE = Array.from({ length: 0x80 }, (_, value) => Buffer.from([value]));

export function varint(value: number | bigint): Buffer {
  const known = ONE_BYTE[Number(value)];
  if (known) return known;
  const bytes: number[] = [];
  let rest = BigInt(value);
  for (; rest > 0x7fn; rest >>= 7n) bytes.push(Number(rest & 0x7fn) | 0x80);
  return Buffer.from([...bytes, Number(rest)]);
}
