/**
 * The values of CEL at run time. JSON trees are values as they are, without a copy:
 *
 * - int: a number without a fraction, or a bigint beyond ±(2^53-1). Integers of JSON are ints.
 * - double: a number with a fraction, NaN or an infinity; a `Double` where the number is integral (`1.0`).
 * - uint: `Uint`. bytes: `Uint8Array`. timestamp, duration: `Timestamp`, `Duration`.
 * - list: an array. map: a plain object (keys are strings) or a `MapValue`.
 * - a JSON object whose type has fields is a plain object, too; `ObjectValue` is what `Type{field: value}` makes.
 * - types of libraries: subclasses of `OpaqueValue`.
 */
import { DOUBLE, DURATION, DYN, optionalType, TIMESTAMP, type Type, UINT } from '../types/type.ts';

export type Value =
  | null
  | boolean
  | number
  | bigint
  | string
  | Uint8Array
  | BoxedValue
  | Type
  | readonly Value[]
  | { readonly [key: string]: Value };

/** A value that JSON has not. */
export abstract class BoxedValue {
  abstract readonly type: Type;
}

/** An integral double: `1.0`. Other doubles are plain numbers. */
export class Double extends BoxedValue {
  constructor(readonly value: number) {
    super();
  }

  get type(): Type {
    return DOUBLE;
  }
}

export class Uint extends BoxedValue {
  constructor(/** A bigint beyond 2^53-1. */ readonly value: number | bigint) {
    super();
  }

  get type(): Type {
    return UINT;
  }
}

export class Timestamp extends BoxedValue {
  constructor(/** Nanoseconds since 1970-01-01T00:00:00Z. */ readonly nanoseconds: bigint) {
    super();
  }

  get type(): Type {
    return TIMESTAMP;
  }
}

export class Duration extends BoxedValue {
  constructor(readonly nanoseconds: bigint) {
    super();
  }

  get type(): Type {
    return DURATION;
  }
}

const OPTIONAL_OF_DYN = optionalType(DYN);

export class Optional extends BoxedValue {
  static readonly NONE = new Optional(undefined);

  constructor(readonly value: Value | undefined) {
    super();
  }

  get type(): Type {
    return OPTIONAL_OF_DYN;
  }
}

/** A value of a library's type. */
export abstract class OpaqueValue extends BoxedValue {
  /** Reports whether the other value, which has the same class, is equal to this one. */
  abstract equals(other: this): boolean;
}

/** An object that an expression made: `Object.spec{replicas: 3}`. */
export class ObjectValue extends BoxedValue {
  constructor(
    readonly type: Type /** Fields by property of the JSON object, not by their names in expressions. */,
    readonly fields: { readonly [property: string]: Value },
  ) {
    super();
  }
}
