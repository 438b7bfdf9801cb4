/** Encodes the union types of JSON schemas in a custom resource definition: see json-schemas.ts. */
import type { ProtoWriter } from '../../../protocols/protobuf/writer.ts';
import type { WriteValue } from './scalar-writers.ts';

type UnionWriter = (schema: WriteValue) => WriteValue;

/** Writers by the name of the shape. */
export const unionWriters: ReadonlyMap<string, UnionWriter> = new Map<string, UnionWriter>([
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
