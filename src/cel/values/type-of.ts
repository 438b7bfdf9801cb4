import {
  BOOL,
  BYTES,
  DOUBLE,
  INT,
  LIST_OF_DYN,
  MAP_OF_DYN,
  NULL,
  OPTIONAL_NAME,
  STRING,
  TYPE,
  Type,
} from '../types/type.ts';
import { isInt } from './numbers.ts';
import { BoxedValue, type Value } from './value.ts';

/** The type of a value at run time; the elements of lists and maps are `dyn`. */
export function typeOf(value: Value): Type {
  switch (typeof value) {
    case 'string':
      return STRING;
    case 'boolean':
      return BOOL;
    case 'number':
    case 'bigint':
      return isInt(value) ? INT : DOUBLE;
    default:
      if (value === null) return NULL;
      if (Array.isArray(value)) return LIST_OF_DYN;
      if (value instanceof BoxedValue) return value.type;
      if (value instanceof Uint8Array) return BYTES;
      return value instanceof Type ? TYPE : MAP_OF_DYN;
  }
}

/** The name of a value's type as messages at run time show it. */
export function typeNameOf(value: Value): string {
  const type = typeOf(value);
  return type.name === OPTIONAL_NAME ? 'optional_type' : type.name;
}
