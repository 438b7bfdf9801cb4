/**
 * The vocabulary for describing a kind: `s.object('PodSpec', { … })`. Each builder returns a frozen schema; the options
 * decide whether the field is always present, and the TypeScript type follows.
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

type StringOptions = FieldOptions<string>;
type IntegerOptions = FieldOptions<number> & { min?: number; max?: number };
type ListOptions<T> = FieldOptions<readonly T[], readonly unknown[]> &
  Partial<Pick<ListSchema, 'list' | 'keys' | 'merge' | 'retainKeys' | 'maxItems'>>;
type MapOptions<T> = FieldOptions<Readonly<Record<string, T>>> & Partial<Pick<MapSchema, 'atomic' | 'maxItems'>>;
type ObjectOptions<T> = FieldOptions<T, object> &
  Partial<
    Pick<
      ObjectSchema,
      'atomic' | 'preserveUnknown' | 'embedded' | 'published' | 'extensions' | 'retainKeys' | 'replace'
    >
  >;
type UseOptions<T> = FieldOptions<T, unknown> &
  Partial<Pick<ObjectSchema, 'atomic' | 'preserveUnknown' | 'retainKeys' | 'replace'>> &
  Partial<Pick<ListSchema, 'list' | 'keys' | 'merge' | 'maxItems'>>;

/**
 * Freezes a literal. The builders' return types express more than the literal itself, such as whether the field is
 * present.
 */
function node<S>(value: object): S {
  return Object.freeze(value) as S;
}

function text<const O extends StringOptions>(
  format: StringSchema['format'],
  options?: O,
): StringSchema<ValueOf<string, O>, PresenceOf<O>> {
  return node({ type: 'string', ...(format ? { format } : {}), ...options });
}

export const s = {
  string: <const O extends StringOptions = object>(options?: O) => text(undefined, options),

  /** A string out of a fixed set. */
  enum: <const W extends readonly string[], const O extends FieldOptions<W[number]> = object>(
    words: W,
    options?: O,
  ): StringSchema<ValueOf<W[number], O>, PresenceOf<O>> => node({ type: 'string', enum: words, ...options }),

  time: <const O extends StringOptions = object>(options?: O) => text('time', options),
  microTime: <const O extends StringOptions = object>(options?: O) => text('microTime', options),
  quantity: <const O extends StringOptions & { thousandths?: boolean } = object>(options?: O) =>
    text('quantity', options),
  bytes: <const O extends StringOptions = object>(options?: O) => text('bytes', options),
  duration: <const O extends StringOptions = object>(options?: O) => text('duration', options),

  int32: <const O extends IntegerOptions = object>(options?: O): IntegerSchema<ValueOf<number, O>, PresenceOf<O>> =>
    node({ type: 'integer', format: 'int32', ...options }),

  int64: <const O extends IntegerOptions = object>(options?: O): IntegerSchema<ValueOf<number, O>, PresenceOf<O>> =>
    node({ type: 'integer', format: 'int64', ...options }),

  number: <const O extends FieldOptions<number> = object>(
    options?: O,
  ): NumberSchema<ValueOf<number, O>, PresenceOf<O>> => node({ type: 'number', ...options }),

  boolean: <const O extends FieldOptions<boolean> = object>(
    options?: O,
  ): BooleanSchema<ValueOf<boolean, O>, PresenceOf<O>> => node({ type: 'boolean', ...options }),

  intOrString: <const O extends FieldOptions<number | string> = object>(
    options?: O,
  ): IntOrStringSchema<ValueOf<number | string, O>, PresenceOf<O>> => node({ type: 'intOrString', ...options }),

  any: <const O extends FieldOptions = object>(options?: O): AnySchema<unknown, PresenceOf<O>> =>
    node({ type: 'any', ...options }),

  /** A list that is replaced as a whole, unless `list`, `keys` and `merge` say otherwise. */
  list: <I extends Schema, const O extends ListOptions<TypeOf<I>> = object>(
    items: I,
    options?: O,
  ): ListSchema<ValueOf<TypeOf<I>[], O>, PresenceOf<O>> => node({ type: 'list', items, list: 'atomic', ...options }),

  /** A list of objects that are identified by their keys; strategic merge uses `merge`, or the first key. */
  listMap: <I extends Schema, const O extends ListOptions<TypeOf<I>> & { keys: readonly string[] }>(
    items: I,
    options: O,
  ): ListSchema<ValueOf<TypeOf<I>[], O>, PresenceOf<O>> =>
    node({ type: 'list', items, list: 'map', merge: options.keys[0], ...options }),

  /** A list of scalars without order; `merge: true` when strategic merge adds to it. */
  set: <I extends Schema, const O extends ListOptions<TypeOf<I>> = object>(
    items: I,
    options?: O,
  ): ListSchema<ValueOf<TypeOf<I>[], O>, PresenceOf<O>> => node({ type: 'list', items, list: 'set', ...options }),

  map: <V extends Schema, const O extends MapOptions<TypeOf<V>> = object>(
    values: V,
    options?: O,
  ): MapSchema<ValueOf<Record<string, TypeOf<V>>, O>, PresenceOf<O>> => node({ type: 'map', values, ...options }),

  object: <const F extends Fields, const O extends ObjectOptions<ObjectType<F>> = object>(
    name: string,
    fields: F,
    options?: O,
  ): ObjectSchema<ValueOf<ObjectTypeWith<F, O>, O>, PresenceOf<O>> =>
    node({ type: 'object', name, fields, ...options }),

  lazy: <const O extends FieldOptions = object>(
    resolve: () => Schema,
    options?: O,
  ): LazySchema<unknown, PresenceOf<O>> => node({ type: 'lazy', resolve, ...options }),

  /**
   * Uses a schema for another field, with that field's own options: `s.use(Probe, { description: '…' })`. The options
   * given replace those of the same name; rules are added to the schema's own.
   */
  use: <S extends Schema, const O extends UseOptions<TypeOf<S>> = object>(schema: S, options?: O): Used<S, O> =>
    node({
      ...schema,
      ...options,
      ...(schema.type === 'object' && schema.description && options?.description
        ? { shapeDescription: schema.shapeDescription ?? schema.description }
        : {}),
      ...(options?.rules && schema.rules ? { rules: [...schema.rules, ...options.rules] } : {}),
    }),
};

/** Schema with the presence and the values that the options of another field give it. */
type Used<S, O> = Omit<S, '_type' | '_presence'> & {
  readonly _type?: ValueOf<TypeOf<S>, O>;
  readonly _presence?: PresenceOf<O>;
};
