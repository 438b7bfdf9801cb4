/** The CEL type of objects that a schema describes, for type checking. */
import { getOrInsert } from '../../../../../base/collections/get-or-insert.ts';
import {
  BOOL,
  BYTES,
  DOUBLE,
  DYN,
  type Field,
  INT,
  listType,
  mapType,
  objectType,
  STRING,
  TIMESTAMP,
  type Type,
} from '../../../../../cel/types/type.ts';
import type { ObjectSchema, Schema, StringSchema } from '../../../../../schema/schema.ts';

/** `name` is the name of the type in messages. Types of fields are made when an expression reads them. */
export function typeOfSchema(schema: Schema, name: string): Type {
  switch (schema.type) {
    case 'object':
      return typeOfObject(schema, name);
    case 'list':
      return listType(typeOfSchema(schema.items, `${name}.@idx`));
    case 'map':
      return mapType(STRING, typeOfSchema(schema.values, `${name}.@elem`));
    case 'lazy':
      return typeOfSchema(schema.resolve(), name);
    case 'string':
      return typeOfString(schema);
    case 'integer':
      return INT;
    case 'number':
      return DOUBLE;
    case 'boolean':
      return BOOL;
    case 'intOrString':
    case 'any':
      return DYN;
  }
}

function typeOfObject({ fields, preserveUnknown }: ObjectSchema, name: string): Type {
  if (preserveUnknown) return DYN;
  const known = new Map<string, Field>();
  return objectType(name, (field) => {
    const property = Object.hasOwn(fields, field) ? field : unescaped(field);
    const schema = Object.hasOwn(fields, property) ? fields[property] : undefined;
    if (!schema) return undefined;
    return getOrInsert(known, property, () => ({ type: typeOfSchema(schema, `${name}.${property}`), property }));
  });
}

/** Fields whose name is a reserved word of CEL may be written as `__namespace__`. */
const unescaped = (field: string) => /^__(\w+)__$/.exec(field)?.[1] ?? field;

function typeOfString({ format }: StringSchema): Type {
  switch (format) {
    case 'time':
    case 'microTime':
      return TIMESTAMP;
    case 'bytes':
      return BYTES;
    // A quantity may be written as a number.
    case 'quantity':
      return DYN;
    default:
      return STRING;
  }
}
