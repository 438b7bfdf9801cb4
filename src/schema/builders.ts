/**
 * The words a kind is described in: `s.object('PodSpec', { … })`. Each returns a frozen description; the options decide
 * whether the field is always there, and the TypeScript type follows.
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
  PresenceOf,
  Schema,
  StringSchema,
  TypeOf,
} from './schema.ts';

type StringOptions = FieldOptions<string>;
type ListOptions = FieldOptions<any[]> & Partial<Pick<ListSchema, 'list' | 'keys' | 'merge' | 'retainKeys'>>;
type ObjectOptions = FieldOptions<any> & Partial<Pick<ObjectSchema, 'atomic' | 'retainKeys' | 'replace'>>;
type UseOptions = ObjectOptions & Partial<Pick<ListSchema, 'list' | 'keys' | 'merge'>>;

function node(value: object): any {
  return Object.freeze(value);
}

function text<O extends StringOptions>(
  format: StringSchema['format'],
  options?: O,
): StringSchema<string, PresenceOf<O>> {
  return node({ type: 'string', ...(format ? { format } : {}), ...options });
}

export const s = {
  string: <const O extends StringOptions = object>(options?: O): StringSchema<string, PresenceOf<O>> =>
    text(undefined, options),

  /** One of a few words. */
  enum: <const W extends readonly string[], const O extends FieldOptions<W[number]> = object>(
    words: W,
    options?: O,
  ): StringSchema<W[number], PresenceOf<O>> => node({ type: 'string', enum: words, ...options }),

  time: <const O extends StringOptions = object>(options?: O) => text('time', options),
  microTime: <const O extends StringOptions = object>(options?: O) => text('microTime', options),
  quantity: <const O extends StringOptions & { thousandths?: boolean } = object>(options?: O) =>
    text('quantity', options),
  bytes: <const O extends StringOptions = object>(options?: O) => text('bytes', options),
  duration: <const O extends StringOptions = object>(options?: O) => text('duration', options),

  int32: <const O extends FieldOptions<number> & { min?: number; max?: number } = object>(
    options?: O,
  ): IntegerSchema<PresenceOf<O>> => node({ type: 'integer', format: 'int32', ...options }),

  int64: <const O extends FieldOptions<number> & { min?: number; max?: number } = object>(
    options?: O,
  ): IntegerSchema<PresenceOf<O>> => node({ type: 'integer', format: 'int64', ...options }),

  number: <const O extends FieldOptions<number> = object>(options?: O): NumberSchema<PresenceOf<O>> =>
    node({ type: 'number', ...options }),

  boolean: <const O extends FieldOptions<boolean> = object>(options?: O): BooleanSchema<PresenceOf<O>> =>
    node({ type: 'boolean', ...options }),

  intOrString: <const O extends FieldOptions<number | string> = object>(
    options?: O,
  ): IntOrStringSchema<PresenceOf<O>> => node({ type: 'intOrString', ...options }),

  any: <const O extends FieldOptions = object>(options?: O): AnySchema<any, PresenceOf<O>> =>
    node({ type: 'any', ...options }),

  /** A list that is replaced as a whole, unless `list`, `keys` and `merge` say otherwise. */
  list: <I extends Schema, const O extends ListOptions = object>(
    items: I,
    options?: O,
  ): ListSchema<TypeOf<I>, PresenceOf<O>> => node({ type: 'list', items, list: 'atomic', ...options }),

  /** A list of objects told apart by their keys; strategic merge uses `merge`, or the first key. */
  listMap: <I extends Schema, const O extends ListOptions & { keys: readonly string[] }>(
    items: I,
    options: O,
  ): ListSchema<TypeOf<I>, PresenceOf<O>> =>
    node({ type: 'list', items, list: 'map', merge: options.keys[0], ...options }),

  /** A list of scalars without order; `merge: true` when strategic merge adds to it. */
  set: <I extends Schema, const O extends ListOptions = object>(
    items: I,
    options?: O,
  ): ListSchema<TypeOf<I>, PresenceOf<O>> => node({ type: 'list', items, list: 'set', ...options }),

  map: <V extends Schema, const O extends FieldOptions<any> & { atomic?: boolean } = object>(
    values: V,
    options?: O,
  ): MapSchema<TypeOf<V>, PresenceOf<O>> => node({ type: 'map', values, ...options }),

  object: <const F extends Fields, const O extends ObjectOptions = object>(
    name: string,
    fields: F,
    options?: O,
  ): ObjectSchema<ObjectType<F>, PresenceOf<O>> => node({ type: 'object', name, fields, ...options }),

  lazy: <const O extends FieldOptions = object>(resolve: () => Schema, options?: O): LazySchema<any, PresenceOf<O>> =>
    node({ type: 'lazy', resolve, ...options }),

  /**
   * The same description used in another place, with that place's own options: `s.use(Probe, { description: '…' })`.
   * The options given replace those of the same name; rules are added to the shape's own.
   */
  use: <S extends Schema, const O extends UseOptions = object>(schema: S, options?: O): Replaced<S, PresenceOf<O>> =>
    node({
      ...schema,
      ...options,
      ...(schema.type === 'object' && schema.description && options?.description
        ? { shapeDescription: schema.shapeDescription ?? schema.description }
        : {}),
      ...(options?.rules && schema.rules ? { rules: [...schema.rules, ...options.rules] } : {}),
    }),
};

/** The same schema with another presence. */
type Replaced<S, P> = Omit<S, '_presence'> & { readonly _presence?: P };
