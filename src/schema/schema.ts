/**
 * Schemas describe objects as plain, frozen values. Nothing here walks a schema; decode.ts, validate.ts and
 * strategic-merge.ts do, and each compiles a schema once.
 *
 * Functions in a schema (rules, defaults) are declared as methods, whose parameters TypeScript compares bivariantly: a
 * rule for a PodSpec then fits where a rule for any value is expected, and a list of schemas needs no `any`. The price
 * is that the compiler does not notice a rule that is put on a field of an unrelated type that happens to overlap.
 */
import type { FieldError } from './field-error.ts';

/** Presence of a field in decoded objects: always, or only sometimes. */
type Presence = 'optional' | 'present';

/** Context of a rule, besides the value. On a create `old` is undefined. */
export interface RuleContext<T = unknown, Root = unknown, Parent = unknown> {
  readonly operation: 'create' | 'update';
  readonly old: T | undefined;
  /** The object that holds the field. */
  readonly parent: Parent;
  /** Whole object, now and before. */
  readonly root: Root;
  readonly oldRoot: Root | undefined;
  /** Subresource that is written, such as 'status'; undefined for the object itself. */
  readonly subresource: string | undefined;
  /** Group and version of the request, such as `apps/v1`; undefined when there is no request. */
  readonly apiVersion: string | undefined;
  /** A part of the object that was already validated as part of another object, except for what depends on the rest. */
  readonly checked?: object | undefined;
}

/** Checks a value; paths in its errors are relative to the value. */
export type Rule<T = unknown, Root = unknown, Parent = unknown> = {
  rule(value: T, context: RuleContext<T, Root, Parent>): FieldError | readonly FieldError[] | undefined;
}['rule'];

/** Computes a field from the decoded object that holds it, which it must not change; undefined leaves the field out. */
type Compute<T> = { compute(parent: object): T | undefined }['compute'];

/** `D` is what a default may be: a default for an object may leave out fields that have defaults themselves. */
export interface FieldOptions<T = unknown, D = T> {
  readonly description?: string;
  /** Value of an absent field. */
  readonly default?: D | null | Compute<D>;
  /** True or a text when absent and empty are errors: `Required value`, with the text behind it. */
  readonly required?: boolean | string;
  /** True when absent becomes the zero value of the type, and the published schema calls the field required. */
  readonly zero?: boolean;
  /**
   * Go programs leave the field out of an object in which nothing is set, although it is required or has an empty object
   * as its default: in Kubernetes it is a pointer, or marked `omitempty`. Decides who owns the field (fields/zero.ts).
   */
  readonly pointer?: boolean;
  /** The zero value of a scalar (0, false, '') counts as absent. */
  readonly omitZero?: boolean;
  /**
   * An explicit null is kept and is not replaced by the default; rules do not run on it. Without this, null counts as
   * absent. A merge patch still deletes the field with null.
   */
  readonly nullable?: boolean;
  /** An empty list, map or string that a client sent is kept. Without this, it may count as absent. */
  readonly keepEmpty?: boolean;
  /**
   * A value of another type is kept as it is, for a rule to report, and so is a null item of a list. Without this, decoding
   * fails. The schemas of custom kinds have it everywhere.
   */
  readonly lenient?: boolean;
  /**
   * Computes the value that the field always has, whatever was sent; the fields described before it are already filled
   * in.
   */
  readonly derive?: Compute<T>;
  /** A changed value is an error on update: `field is immutable`. */
  readonly immutable?: boolean;
  readonly rules?: readonly Rule<T>[];
}

interface Node<T, P extends Presence> extends FieldOptions<T, unknown> {
  /** Types for the type checker only. */
  readonly _type?: T;
  readonly _presence?: P;
}

export interface StringSchema<T = unknown, P extends Presence = Presence> extends Node<T, P> {
  readonly type: 'string';
  /** `Unsupported value: "x": supported values: …`, in this order. The empty string counts as absent. */
  readonly enum?: readonly string[];
  /** time: RFC 3339 in seconds; microTime: with microseconds; quantity: kept in canonical form; bytes: base64. */
  readonly format?: 'time' | 'microTime' | 'quantity' | 'bytes' | 'duration';
  /** For quantities: rounds up fractions of a thousandth. */
  readonly thousandths?: boolean;
}

export interface IntegerSchema<T = unknown, P extends Presence = Presence> extends Node<T, P> {
  readonly type: 'integer';
  /** An int64 beyond 2^53-1 is rejected: a number cannot hold it exactly. */
  readonly format: 'int32' | 'int64';
  /** `must be greater than or equal to 0` and the like. */
  readonly min?: number;
  readonly max?: number;
}

export interface NumberSchema<T = unknown, P extends Presence = Presence> extends Node<T, P> {
  readonly type: 'number';
}

export interface BooleanSchema<T = unknown, P extends Presence = Presence> extends Node<T, P> {
  readonly type: 'boolean';
}

export interface IntOrStringSchema<T = unknown, P extends Presence = Presence> extends Node<T, P> {
  readonly type: 'intOrString';
}

/** Any JSON value, kept as it is; its numbers are those of JavaScript. */
export interface AnySchema<T = unknown, P extends Presence = Presence> extends Node<T, P> {
  readonly type: 'any';
}

export interface ListSchema<T = unknown, P extends Presence = Presence> extends Node<T, P> {
  readonly type: 'list';
  readonly items: Schema;
  /** Treatment of the list by server-side apply. */
  readonly list: 'atomic' | 'set' | 'map';
  /** The fields that identify an item of a map list (server-side apply). */
  readonly keys?: readonly string[];
  /** The strategic-merge key of an object list; true for a list of scalars that merges; absent: the list is replaced. */
  readonly merge?: string | true;
  /** For merge: drops an item's keys that the patch does not name in `$retainKeys`. */
  readonly retainKeys?: boolean;
  /** A longer list is rejected when it is decoded. Default: MAX_LIST_ITEMS. */
  readonly maxItems?: number;
}

export interface MapSchema<T = unknown, P extends Presence = Presence> extends Node<T, P> {
  readonly type: 'map';
  readonly values: Schema;
  readonly atomic?: boolean;
  /** A map with more entries is rejected when it is decoded. Default: MAX_MAP_ENTRIES. */
  readonly maxItems?: number;
}

export type Fields = Readonly<Record<string, Schema>>;

export interface ObjectSchema<T = unknown, P extends Presence = Presence> extends Node<T, P> {
  readonly type: 'object';
  /** The shape's published name, such as `PodSpec`; it appears in messages and names the OpenAPI definition. */
  readonly name: string;
  /** The description of the shape itself, where a use of it (`s.use`) has its own. */
  readonly shapeDescription?: string;
  readonly fields: Fields;
  readonly atomic?: boolean;
  /**
   * Fields that the schema does not describe are kept as they are and are not reported as unknown. Objects in described
   * fields drop unknown fields again unless they have this option themselves.
   */
  readonly preserveUnknown?: boolean;
  /** The object is itself an API object; its fields include apiVersion, kind and metadata. */
  readonly embedded?: boolean;
  /**
   * The body of the published definition in OpenAPI 2 or 3, where it is not derived from the fields. `metadata` is the
   * schema of the object's metadata there.
   */
  readonly published?: (version: 2 | 3, metadata: object) => Readonly<Record<string, unknown>>;
  /** Words of the published definition, and of that of its list, beside those that are derived. */
  readonly extensions?: Readonly<Record<string, unknown>>;
  /** Strategic merge: keys that the patch does not name in `$retainKeys` are dropped. */
  readonly retainKeys?: boolean;
  /** Strategic merge: the patch replaces the whole object. */
  readonly replace?: boolean;
}

/** A shape that contains itself. */
export interface LazySchema<T = unknown, P extends Presence = Presence> extends Node<T, P> {
  readonly type: 'lazy';
  readonly resolve: () => Schema;
}

export type Schema<T = unknown, P extends Presence = Presence> =
  | StringSchema<T, P>
  | IntegerSchema<T, P>
  | NumberSchema<T, P>
  | BooleanSchema<T, P>
  | IntOrStringSchema<T, P>
  | AnySchema<T, P>
  | ListSchema<T, P>
  | MapSchema<T, P>
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

/** The type of an object with these fields and options: unknown fields are visible where they are preserved. */
export type ObjectTypeWith<F, O> = O extends { preserveUnknown: true }
  ? ObjectType<F> & Record<string, unknown>
  : ObjectType<F>;

export type PresenceOf<O> = O extends { required: true | string } | { zero: true }
  ? 'present'
  : O extends { default: infer D }
    ? DefaultPresence<D>
    : 'optional';

/** A function that may leave the field out makes it optional. */
type DefaultPresence<D> = D extends (parent: never) => infer R
  ? undefined extends R
    ? 'optional'
    : 'present'
  : 'present';

/** A field's values, with null among them where the options allow it. */
export type ValueOf<T, O> = O extends { nullable: true } ? T | null : T;
