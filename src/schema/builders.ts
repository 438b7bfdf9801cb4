/**
 * The vocabulary for describing a kind: `s.object('PodSpec', 'What a pod runs.', { … })`. Each builder takes the
 * description that users of the API read, and options, which decide whether the field is always present; the TypeScript
 * type follows. It returns a frozen schema. Parts without a meaning of their own, such as items, have no description.
 */
import type {
  AnySchema,
  BooleanSchema,
  FieldOptions,
  Fields,
  IntegerSchema,
  IntOrStringSchema,
  LazySchema,
  ListSchema,
  MapSchema,
  NumberSchema,
  ObjectSchema,
  ObjectType,
  ObjectTypeWith,
  PresenceOf,
  Schema,
  StringSchema,
  TypeOf,
  ValueOf,
} from './schema.ts';

type Options<T, D = T> = Omit<FieldOptions<T, D>, 'description'>;
type StringOptions = Options<string>;
type IntegerOptions = Options<number> & { min?: number; max?: number };
type ListOptions<T> = Options<readonly T[], readonly unknown[]> &
  Partial<Pick<ListSchema, 'list' | 'keys' | 'merge' | 'retainKeys' | 'maxItems'>>;
type MapOptions<T> = Options<Readonly<Record<string, T>>> & Partial<Pick<MapSchema, 'atomic' | 'maxItems'>>;
type ObjectOptions<T> = Options<T, object> &
  Partial<
    Pick<
      ObjectSchema,
      'atomic' | 'preserveUnknown' | 'embedded' | 'published' | 'extensions' | 'retainKeys' | 'replace'
    >
  >;
type UseOptions<T> = Options<T, unknown> &
  Partial<Pick<ObjectSchema, 'atomic' | 'preserveUnknown' | 'retainKeys' | 'replace'>> &
  Partial<Pick<ListSchema, 'list' | 'keys' | 'merge' | 'maxItems'>>;

/** The last arguments of a builder. */
type Described<O> = readonly [description: string, options?: O] | readonly [options?: O];

/** The options among these arguments. */
type OptionsIn<A> = A extends readonly [string, infer O] ? O : A extends readonly [infer O extends object] ? O : object;
type ValueIn<T, A> = ValueOf<T, OptionsIn<A>>;
type PresenceIn<A> = PresenceOf<OptionsIn<A>>;

function optionsIn(args: readonly unknown[]): FieldOptions {
  const [first, options] = args;
  return typeof first === 'string' ? { description: first, ...(options as object) } : ((first as object) ?? {});
}

/**
 * Freezes a literal. The builders' return types express more than the literal itself, such as whether the field is
 * present.
 */
function node<S>(value: object): S {
  return Object.freeze(value) as S;
}

function text<const A extends Described<StringOptions>>(
  format: StringSchema['format'],
  args: A,
): StringSchema<ValueIn<string, A>, PresenceIn<A>> {
  return node({ type: 'string', ...(format ? { format } : {}), ...optionsIn(args) });
}

function object<const F extends Fields, const O extends ObjectOptions<ObjectType<F>> = object>(
  name: string,
  description: string,
  fields: F,
  options?: O,
): ObjectSchema<ValueOf<ObjectTypeWith<F, O>, O>, PresenceOf<O>>;
function object<const F extends Fields, const O extends ObjectOptions<ObjectType<F>> = object>(
  name: string,
  fields: F,
  options?: O,
): ObjectSchema<ValueOf<ObjectTypeWith<F, O>, O>, PresenceOf<O>>;
function object(name: string, ...args: readonly unknown[]) {
  const [description, fields, options] = typeof args[0] === 'string' ? args : [undefined, ...args];
  return node({ type: 'object', name, fields, ...(description ? { description } : {}), ...(options as object) });
}

export const s = {
  string: <const A extends Described<StringOptions>>(...args: A) => text(undefined, args),

  /** A string out of a fixed set. */
  enum: <const W extends readonly string[], const A extends Described<Options<W[number]>>>(
    words: W,
    ...args: A
  ): StringSchema<ValueIn<W[number], A>, PresenceIn<A>> => node({ type: 'string', enum: words, ...optionsIn(args) }),

  time: <const A extends Described<StringOptions>>(...args: A) => text('time', args),
  microTime: <const A extends Described<StringOptions>>(...args: A) => text('microTime', args),
  quantity: <const A extends Described<StringOptions & { thousandths?: boolean }>>(...args: A) =>
    text('quantity', args),
  bytes: <const A extends Described<StringOptions>>(...args: A) => text('bytes', args),
  duration: <const A extends Described<StringOptions>>(...args: A) => text('duration', args),

  int32: <const A extends Described<IntegerOptions>>(...args: A): IntegerSchema<ValueIn<number, A>, PresenceIn<A>> =>
    node({ type: 'integer', format: 'int32', ...optionsIn(args) }),

  int64: <const A extends Described<IntegerOptions>>(...args: A): IntegerSchema<ValueIn<number, A>, PresenceIn<A>> =>
    node({ type: 'integer', format: 'int64', ...optionsIn(args) }),

  number: <const A extends Described<Options<number>>>(...args: A): NumberSchema<ValueIn<number, A>, PresenceIn<A>> =>
    node({ type: 'number', ...optionsIn(args) }),

  boolean: <const A extends Described<Options<boolean>>>(
    ...args: A
  ): BooleanSchema<ValueIn<boolean, A>, PresenceIn<A>> => node({ type: 'boolean', ...optionsIn(args) }),

  intOrString: <const A extends Described<Options<number | string>>>(
    ...args: A
  ): IntOrStringSchema<ValueIn<number | string, A>, PresenceIn<A>> => node({ type: 'intOrString', ...optionsIn(args) }),

  any: <const A extends Described<Options<unknown>>>(...args: A): AnySchema<unknown, PresenceIn<A>> =>
    node({ type: 'any', ...optionsIn(args) }),

  /** A list that is replaced as a whole, unless `list`, `keys` and `merge` say otherwise. */
  list: <I extends Schema, const A extends Described<ListOptions<TypeOf<I>>>>(
    items: I,
    ...args: A
  ): ListSchema<ValueIn<TypeOf<I>[], A>, PresenceIn<A>> =>
    node({ type: 'list', items, list: 'atomic', ...optionsIn(args) }),

  /** A list of objects that are identified by their keys; strategic merge uses `merge`, or the first key. */
  listMap: <I extends Schema, const A extends Described<ListOptions<TypeOf<I>> & { keys: readonly string[] }>>(
    items: I,
    ...args: A
  ): ListSchema<ValueIn<TypeOf<I>[], A>, PresenceIn<A>> => {
    const options = optionsIn(args) as { readonly keys: readonly string[] };
    return node({ type: 'list', items, list: 'map', merge: options.keys[0], ...options });
  },

  /** A list of scalars without order; `merge: true` when strategic merge adds to it. */
  set: <I extends Schema, const A extends Described<ListOptions<TypeOf<I>>>>(
    items: I,
    ...args: A
  ): ListSchema<ValueIn<TypeOf<I>[], A>, PresenceIn<A>> =>
    node({ type: 'list', items, list: 'set', ...optionsIn(args) }),

  map: <V extends Schema, const A extends Described<MapOptions<TypeOf<V>>>>(
    values: V,
    ...args: A
  ): MapSchema<ValueIn<Record<string, TypeOf<V>>, A>, PresenceIn<A>> =>
    node({ type: 'map', values, ...optionsIn(args) }),

  object,

  /** An object that is always there: where it is absent, one in which nothing is set. */
  struct: <const F extends Fields, const O extends Omit<ObjectOptions<ObjectType<F>>, 'default'> = object>(
    name: string,
    description: string,
    fields: F,
    options?: O,
  ): ObjectSchema<ValueOf<ObjectTypeWith<F, O>, O>, 'present'> =>
    node({ ...object(name, description, fields, options), default: {} }),

  lazy: <const A extends Described<Options<unknown>>>(
    resolve: () => Schema,
    ...args: A
  ): LazySchema<unknown, PresenceIn<A>> => node({ type: 'lazy', resolve, ...optionsIn(args) }),

  /**
   * Uses a schema for another field, with that field's own description and options: `s.use(Probe, '…')`. They replace
   * those of the schema; rules are added to the schema's own.
   */
  use: <S extends Schema, const A extends Described<UseOptions<TypeOf<S>>>>(
    schema: S,
    ...args: A
  ): Used<S, OptionsIn<A>> => {
    const options = optionsIn(args);
    return node({
      ...schema,
      ...options,
      ...(schema.type === 'object' && schema.description && options.description
        ? { shapeDescription: schema.shapeDescription ?? schema.description }
        : {}),
      ...(options.rules && schema.rules ? { rules: [...schema.rules, ...options.rules] } : {}),
    });
  },
};

/** Schema with the presence and the values that the options of another field give it. */
type Used<S, O> = Omit<S, '_type' | '_presence'> & {
  readonly _type?: ValueOf<TypeOf<S>, O>;
  readonly _presence?: PresenceOf<O>;
};
