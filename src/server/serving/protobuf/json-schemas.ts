/**
 * Decodes the union types of JSON schemas in a custom resource definition. In protobuf each is a message of its own:
 * `JSON` contains the value as text, the others have a field for each form.
 */
import type { ProtoReader } from '../../../protocols/protobuf/reader.ts';
import { readText } from './scalars.ts';

interface Reading {
  /** Reads the schema in the current field. */
  schema(wire: ProtoReader): unknown;
  /** Called for every field. */
  count(): void;
}

type ReadUnion = (wire: ProtoReader, reading: Reading) => unknown;

/** Readers by the name of the shape; `wire` reads the message. */
export const schemaUnions: ReadonlyMap<string, ReadUnion> = new Map([
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
