/** Types of CEL: the checker computes with them, and `type(x)` returns them at run time. */

export type Kind =
  | 'dyn'
  | 'error'
  | 'null'
  | 'bool'
  | 'int'
  | 'uint'
  | 'double'
  | 'string'
  | 'bytes'
  | 'timestamp'
  | 'duration'
  | 'type'
  | 'list'
  | 'map'
  | 'object'
  | 'opaque'
  | 'parameter';

export interface Field {
  readonly type: Type;
  /** The property of the JSON object that holds the field; the field's name where it is left out. */
  readonly property?: string;
}

/** Finds a field of an object type by the name that expressions use. Called once for every use of a field in an expression. */
export type FieldLookup = (name: string) => Field | undefined;

/**
 * Operators of a type whose values differ from their JSON, such as lists that are sets. They take and return values of
 * CEL (`values/value.ts`, which knows types and so cannot be named here).
 */
export interface Operators {
  /** Evaluates `a == b` where `a` has the type; counts the visited parts. */
  readonly equal: (a: any, b: any, counter: { steps: number }) => boolean;
  /** `a + b` where `a` has the type, which is the type of the sum as well. */
  readonly add?: (a: any, b: any) => any;
}

export class Type {
  readonly fieldOf: FieldLookup | undefined;
  /** Operators of the type; undefined for those of the language. */
  readonly operators: Operators | undefined;
  /** Number of types that it consists of. */
  readonly weight: number;

  constructor(
    readonly kind: Kind /** The name that expressions and messages use: `int`, `google.protobuf.Timestamp`, `Object.spec`. */,
    readonly name: string,
    readonly parameters: readonly Type[] = [],
    {
      fieldOf,
      operators,
    }: { readonly fieldOf?: FieldLookup | undefined; readonly operators?: Operators | undefined } = {},
  ) {
    this.fieldOf = fieldOf;
    this.operators = operators;
    this.weight = parameters.reduce((sum, parameter) => sum + parameter.weight, 1);
  }

  /** The type as messages of the checker show it: `list(int)`, `timestamp`. */
  toString(): string {
    switch (this.kind) {
      case 'error':
        return '!error!';
      case 'null':
        return 'null';
      case 'timestamp':
      case 'duration':
        return this.kind;
      case 'type':
        return this.parameters.length === 0 ? 'type' : `type(${this.parameters[0]})`;
      default:
        return this.parameters.length === 0 ? this.name : `${this.name}(${this.parameters.join(', ')})`;
    }
  }
}

export const DYN = new Type('dyn', 'dyn');
/** The type of an expression that has been reported as wrong: it fits everywhere, so that one mistake gives one message. */
export const ERROR = new Type('error', 'error');
export const NULL = new Type('null', 'null_type');
export const BOOL = new Type('bool', 'bool');
export const INT = new Type('int', 'int');
export const UINT = new Type('uint', 'uint');
export const DOUBLE = new Type('double', 'double');
export const STRING = new Type('string', 'string');
export const BYTES = new Type('bytes', 'bytes');
export const TIMESTAMP = new Type('timestamp', 'google.protobuf.Timestamp');
export const DURATION = new Type('duration', 'google.protobuf.Duration');
export const TYPE = new Type('type', 'type');

export const OPTIONAL_NAME = 'optional_type';

export function listType(element: Type, operators?: Operators): Type {
  return new Type('list', 'list', [element], { operators });
}

export function mapType(key: Type, value: Type, operators?: Operators): Type {
  return new Type('map', 'map', [key, value], { operators });
}

export function optionalType(value: Type): Type {
  return opaqueType(OPTIONAL_NAME, [value]);
}

/** The type of a type: that of the identifier `int` is `type(int)`. */
export function typeType(of: Type): Type {
  return new Type('type', 'type', [of]);
}

/** Returns a type whose values only functions of its library look into, such as `kubernetes.Quantity`. */
export function opaqueType(name: string, parameters: readonly Type[] = []): Type {
  return new Type('opaque', name, parameters);
}

/** A type with named fields. Two object types with one name are the same type. */
export function objectType(name: string, fieldOf: FieldLookup, operators?: Operators): Type {
  return new Type('object', name, [], { fieldOf, operators });
}

/** Stands for any type in a function's declaration; the same name means the same type: `list(T).indexOf(T)`. */
export function typeParameter(name: string): Type {
  return new Type('parameter', name);
}

export const LIST_OF_DYN = listType(DYN);
export const MAP_OF_DYN = mapType(DYN, DYN);

export function isOptional(type: Type): boolean {
  return type.kind === 'opaque' && type.name === OPTIONAL_NAME;
}

export function isDynamic(type: Type): boolean {
  return type.kind === 'dyn' || type.kind === 'error';
}

export function sameType(a: Type, b: Type): boolean {
  if (a === b) return true;
  if (a.kind !== b.kind || a.name !== b.name || a.parameters.length !== b.parameters.length) return false;
  return a.parameters.every((parameter, i) => sameType(parameter, b.parameters[i]!));
}
