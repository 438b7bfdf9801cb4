/**
 * How an object is described: plain, frozen values. Nothing here walks a description; decode.ts, validate.ts and
 * strategic-merge.ts do, and each compiles a description once.
 */
import type { FieldError } from './field-error.ts';

/** Whether a decoded object always has the field. */
type Presence = 'optional' | 'present';

/** What a rule may look at besides the value. On a create `old` is undefined. */
export interface RuleContext<T = any> {
  readonly operation: 'create' | 'update';
  readonly old: T | undefined;
  /** The object that holds the field. */
  readonly parent: any;
  /** The whole object, and what it was. */
  readonly root: any;
  readonly oldRoot: any;
  /** The subresource that is written, such as 'status'; undefined for the object itself. */
  readonly subresource: string | undefined;
  /** The group and version of the request, such as `apps/v1`; undefined where nobody asked in a version. */
  readonly apiVersion: string | undefined;
  /** A part of the object that was found right in another one, as far as it can be said of the part alone. */
  readonly checked?: object | undefined;
}

/** Says what is wrong with a value; paths in its errors are relative to the value. */
export type Rule<T = any> = (value: T, context: RuleContext<T>) => FieldError | readonly FieldError[] | undefined;

export interface FieldOptions<T = any> {
  readonly description?: string;
  /** What an absent field becomes. A function sees the decoded object that holds the field; it must not change it. */
  readonly default?: T | ((parent: any) => T | undefined);
  /** Absent and empty are errors: `Required value`, with this text behind it when it is a string. */
  readonly required?: boolean | string;
  /** Absent becomes the zero value of the type, and the published schema calls the field required. */
  readonly zero?: boolean;
  /** The zero value of a scalar (0, false, '') counts as absent. */
  readonly omitZero?: boolean;
  /** What the field always is, whatever was sent: it follows from the others, and those described before it are filled. */
  readonly derive?: (parent: any) => T | undefined;
  /** A changed value is an error on update: `field is immutable`. */
  readonly immutable?: boolean;
  readonly rules?: readonly Rule<T>[];
}

interface Node<T, P extends Presence> extends FieldOptions<T> {
  /** Only for the type checker. */
  readonly _type?: T;
  readonly _presence?: P;
}

export interface StringSchema<T = string, P extends Presence = Presence> extends Node<T, P> {
  readonly type: 'string';
  /** `Unsupported value: "x": supported values: …`, in this order. The empty string counts as absent. */
  readonly enum?: readonly string[];
  /** time: RFC 3339 in seconds; microTime: with microseconds; quantity: kept in canonical form; bytes: base64. */
  readonly format?: 'time' | 'microTime' | 'quantity' | 'bytes' | 'duration';
  /** Of a quantity: what is finer than a thousandth is rounded up. */
  readonly thousandths?: boolean;
}

export interface IntegerSchema<P extends Presence = Presence> extends Node<number, P> {
  readonly type: 'integer';
  readonly format: 'int32' | 'int64';
  /** `must be greater than or equal to 0` and the like. */
  readonly min?: number;
  readonly max?: number;
}

export interface NumberSchema<P extends Presence = Presence> extends Node<number, P> {
  readonly type: 'number';
}

export interface BooleanSchema<P extends Presence = Presence> extends Node<boolean, P> {
  readonly type: 'boolean';
}

export interface IntOrStringSchema<P extends Presence = Presence> extends Node<number | string, P> {
  readonly type: 'intOrString';
}

/** Any JSON value, kept as it is. */
export interface AnySchema<T = any, P extends Presence = Presence> extends Node<T, P> {
  readonly type: 'any';
}

export interface ListSchema<T = any, P extends Presence = Presence> extends Node<T[], P> {
  readonly type: 'list';
  readonly items: Schema;
  /** How server-side apply sees the list. */
  readonly list: 'atomic' | 'set' | 'map';
  /** What tells the items of a map list apart (apply). */
  readonly keys?: readonly string[];
  /** The strategic-merge key of an object list; true for a list of scalars that merges; absent: the list is replaced. */
  readonly merge?: string | true;
  /** With merge: an item's keys that the patch does not name in `$retainKeys` are dropped. */
  readonly retainKeys?: boolean;
}

export interface MapSchema<T = any, P extends Presence = Presence> extends Node<Record<string, T>, P> {
  readonly type: 'map';
  readonly values: Schema;
  readonly atomic?: boolean;
}

export type Fields = Readonly<Record<string, Schema>>;

export interface ObjectSchema<T = any, P extends Presence = Presence> extends Node<T, P> {
  readonly type: 'object';
  /** The shape's published name, such as `PodSpec`; it stands in messages and names the OpenAPI definition. */
  readonly name: string;
  /** The description of the shape itself, where a use of it (`s.use`) has its own. */
  readonly shapeDescription?: string;
  readonly fields: Fields;
  readonly atomic?: boolean;
  /** Strategic merge: keys that the patch does not name in `$retainKeys` are dropped. */
  readonly retainKeys?: boolean;
  /** Strategic merge: what the patch says takes the place of the whole object. */
  readonly replace?: boolean;
}

/** A shape that contains itself. */
export interface LazySchema<T = any, P extends Presence = Presence> extends Node<T, P> {
  readonly type: 'lazy';
  readonly resolve: () => Schema;
}

export type Schema<T = any, P extends Presence = Presence> =
  | StringSchema<T, P>
  | IntegerSchema<P>
  | NumberSchema<P>
  | BooleanSchema<P>
  | IntOrStringSchema<P>
  | AnySchema<T, P>
  | ListSchema<any, P>
  | MapSchema<any, P>
  | ObjectSchema<T, P>
  | LazySchema<T, P>;

export type TypeOf<S> = S extends { readonly _type?: infer T } ? Exclude<T, undefined> : never;

type Flat<T> = { [K in keyof T]: T[K] };

/** The TypeScript type that a set of fields describes. */
export type ObjectType<F> = Flat<
  { -readonly [K in keyof F as F[K] extends { readonly _presence?: 'present' } ? K : never]: TypeOf<F[K]> } & {
    -readonly [K in keyof F as F[K] extends { readonly _presence?: 'present' } ? never : K]?: TypeOf<F[K]>;
  }
>;

export type PresenceOf<O> = O extends { required: true | string } | { zero: true }
  ? 'present'
  : O extends { default: infer D }
    ? DefaultPresence<D>
    : 'optional';

/** A function that may leave the field out makes it optional. */
type DefaultPresence<D> = D extends (parent: any) => infer R
  ? undefined extends R
    ? 'optional'
    : 'present'
  : 'present';
