/**
 * Decodes what a client sent: one pass that checks types, drops unknown fields and nulls, brings values into canonical
 * form and fills in defaults. The code for a schema is generated when it is first used.
 *
 * A decoded tree does not distinguish what Kubernetes does not distinguish: an optional list or map that is empty is
 * absent, and so is an empty string in a field with an enum or a default. The options `nullable`, `keepEmpty`,
 * `preserveUnknown` and `lenient` change that for single fields, as the structural schemas of custom kinds need it.
 */
import { memoized } from '../../base/collections/memoized.ts';
import { clone, isTree, put, type Tree } from '../../base/json/tree.ts';
import { Code, field as fieldOf, quote, read } from '../code.ts';
import type { Fields, ListSchema, MapSchema, ObjectSchema, Schema } from '../schema.ts';
import { DecodeError, jsonWord, Mismatch } from './decode-error.ts';
import { type DecodeRun, type WideField, wideDecode } from './decode-wide.ts';
import { checkDepth, decodeAny } from './free-form.ts';
import { errorsOf, exceedsMore, excessOf, LimitError, maxItemsOf } from './limits.ts';
import { decodeScalar, goType, zeroOf } from './scalars.ts';
import { unknownFields } from './unknown-fields.ts';

export { DecodeError } from './decode-error.ts';
export { LimitError } from './limits.ts';

export interface DecodeOptions {
  /** Called with the path of each field that is dropped because the schema does not describe it. */
  readonly unknown?: ((path: string) => void) | undefined;
  /**
   * A decoded object that the input was derived from: fields of the input that are identical (===) to its fields are
   * taken over without decoding, and so shared.
   */
  readonly from?: object | undefined;
  /**
   * The object that the input replaces; called only for a list or map beyond its maximum, which is accepted when this
   * object has one that is at least as long in the same field.
   */
  readonly replaced?: (() => object | undefined) | undefined;
}

/**
 * Returns a fresh tree; only free-form data and what is taken over from `from` is shared with the input. Throws a
 * DecodeError when a value has the wrong type, and its subclass LimitError when a list or map is too long.
 */
export function decode<T>(schema: ObjectSchema<T>, input: unknown, options?: DecodeOptions): T {
  try {
    return decodeWith(schema, input, { options, isLimited: true });
  } catch (error) {
    if (error instanceof Mismatch) throw error.toDecodeError();
    if (error !== TOO_MANY_ITEMS) throw error;
    const excess = excessOf(schema, input);
    const replaced = options?.replaced?.();
    if (!replaced || exceedsMore(excess, excessOf(schema, replaced))) throw new LimitError(errorsOf(excess));
    return decodeUnlimited(schema, input, options);
  }
}

/**
 * Decodes objects that may have been accepted under other limits, such as stored ones: lists and maps have any length.
 * Defaults are limited all the same, as they may be newer than the object.
 */
export function decodeUnlimited<T>(schema: ObjectSchema<T>, input: unknown, options?: DecodeOptions): T {
  try {
    return decodeWith(schema, input, { options, isLimited: false });
  } catch (error) {
    throw error instanceof Mismatch ? error.toDecodeError() : error;
  }
}

interface DecodeCall {
  readonly options: DecodeOptions | undefined;
  readonly isLimited: boolean;
}

function decodeWith<T>(schema: ObjectSchema<T>, input: unknown, { options, isLimited }: DecodeCall): T {
  const run: DecodeRun = { isLimited, left: MAX_DEFAULT_CHARACTERS, depth: 0, dropped: false };
  const decoded = decoderOf(schema).decode(input, run, options?.from) as T;
  const unknown = options?.unknown;
  if (run.dropped && unknown) for (const path of unknownFields(schema, input)) unknown(path);
  return decoded;
}

/** Thrown by the generated code, which knows no paths; those are found by another walk, as it is rare. */
const TOO_MANY_ITEMS = new Error('a list or map has too many items');

function checkLimit(run: DecodeRun): void {
  if (run.isLimited) throw TOO_MANY_ITEMS;
}

/** Limit for the defaults added to an object, as JSON: a list of thousands of empty items could become gigabytes. */
const MAX_DEFAULT_CHARACTERS = 4 * 1024 * 1024;

function rejectDefaults(): never {
  throw new DecodeError(`defaults would add more than ${MAX_DEFAULT_CHARACTERS} characters`);
}

/** Returns the characters that the default of a field adds; for an object, including the defaults inside it. */
function defaultCharacters(field: string, { default: preset }: Schema): number {
  const value = typeof preset === 'function' ? '' : (JSON.stringify(preset) ?? '');
  return field.length + value.length + 4;
}

/** Decodes a value; never called with null. Returns undefined for a value that counts as absent. */
type Decode = (input: unknown, run: DecodeRun, from?: object) => unknown;

/** Holds the generated function of a schema, which the first call generates. */
interface Decoder {
  decode: Decode;
}

/** Objects are keyed by their fields, so that a shape used for many fields is generated once. */
function decoderKey(schema: Schema): object {
  const isShape = schema.type === 'object' && !schema.preserveUnknown && !schema.lenient;
  return isShape ? schema.fields : schema;
}

const decoderOf = memoized((schema: Schema): Decoder => deferred(() => decodeOf(schema, false)), decoderKey);
/** Decoders of lists and maps for which empty means absent. */
const optionalDecoderOf = memoized((schema: Schema): Decoder => deferred(() => decodeOf(schema, true)), decoderKey);

function deferred(generate: () => Decode): Decoder {
  const decoder: Decoder = {
    decode(input, run, from) {
      decoder.decode = generate();
      return decoder.decode(input, run, from);
    },
  };
  return decoder;
}

function decodeOf(schema: Schema, optional: boolean): Decode {
  if (schema.lenient && !isContainer(schema)) return decodeAny;
  switch (schema.type) {
    case 'object':
      return objectDecode(schema);
    case 'list':
      return listDecode(schema, optional);
    case 'map':
      return mapDecode(schema, optional);
    case 'any':
      return decodeAny;
    case 'lazy':
      return lazyDecode(schema.resolve);
    default:
      return decodeScalar(schema);
  }
}

const isContainer = ({ type }: Schema) => type === 'object' || type === 'list' || type === 'map' || type === 'lazy';

/** Generates the handling of an input that is not of the type of the schema. */
const mismatchCode = (code: Code, schema: Schema): string =>
  schema.lenient
    ? `return ${code.constant(decodeAny)}(input);`
    : `throw ${code.constant(mismatch)}(input, ${quote(goType(schema))});`;

/** Maximum number of fields for which code is generated. No built-in kind has as many. */
const MAX_GENERATED_FIELDS = 128;

function objectDecode(schema: ObjectSchema): Decode {
  const { name, fields, preserveUnknown } = schema;
  const entries = Object.entries(fields);
  if (entries.length > MAX_GENERATED_FIELDS) return wideObjectDecode(schema);
  const code = new Code();
  const known = code.constant(new Set(Object.keys(fields)));
  code.add(
    `if (!${code.constant(isTree)}(input)) ${mismatchCode(code, schema)}`,
    "const out = {}; let v, at = '';",
    'try {',
    'for (const key in input) {',
    '  v = input[key];',
    '  if (v === null || v === undefined) {',
    ...keptNullCode(code, fields, preserveUnknown),
    `    if (!${known}.has(key)) run.dropped = true;`,
    '    continue;',
    '  }',
    '  if (from !== undefined && v === from[key]) { out[key] = v; continue; }',
    '  at = key;',
    '  switch (key) {',
    ...entries.map(([field, schema]) => `case ${quote(field)}: ${fieldCode(code, field, schema)} break;`),
    preserveUnknown
      ? `    default: ${code.constant(put)}(out, key, ${code.constant(decodeAny)}(v));`
      : '    default: run.dropped = true;',
    '  }',
    '}',
    ...entries.map(([field, schema]) => defaultCode(code, field, schema)),
    ...(entries.some(([, { default: preset, zero }]) => preset !== undefined || zero)
      ? [`if (run.left < 0) ${code.constant(rejectDefaults)}();`]
      : []),
    `} catch (error) { throw ${code.constant(withinField)}(error, ${quote(name)}, at); }`,
    'return out;',
  );
  return code.compile('input, run, from');
}

function wideObjectDecode(schema: ObjectSchema): Decode {
  const { name, fields, preserveUnknown } = schema;
  const decode = wideDecode({
    fields: new Map(Object.entries(fields).map(([field, each]) => [field, wideField(field, each)])),
    unknown: preserveUnknown ? decodeAny : undefined,
    within: (error, field) => withinField(error, name, field),
  });
  return (input, run, from) => {
    if (isTree(input)) return decode(input, run, from as Tree | undefined);
    if (schema.lenient) return decodeAny(input);
    throw mismatch(input, goType(schema));
  };
}

function wideField(field: string, schema: Schema): WideField {
  const decoder = isContainer(schema)
    ? (isOptional(schema) ? optionalDecoderOf : decoderOf)(schema)
    : { decode: decodeOf(schema, false) };
  return {
    decode: (value, run) => decoder.decode(value, run),
    nullable: schema.nullable === true,
    dropsEmpty: dropsEmpty(schema),
    preset: countedPreset(field, schema),
    derive: schema.derive,
  };
}

/** Keeps a null in nullable fields and in unknown fields that are preserved. Most objects have neither and get no code. */
function keptNullCode(code: Code, fields: Fields, preserveUnknown = false): string[] {
  const dropsNull = Object.entries(fields).flatMap(([field, { nullable }]) => (nullable ? [] : [field]));
  const nullable = Object.keys(fields).filter((field) => fields[field]?.nullable);
  if (!preserveUnknown && nullable.length === 0) return [];
  const isKept = preserveUnknown
    ? `!${code.constant(new Set(dropsNull))}.has(key)`
    : `${code.constant(new Set(nullable))}.has(key)`;
  return [`    if (v === null && ${isKept}) { ${code.constant(put)}(out, key, null); continue; }`];
}

/** Decodes a field's value, which is `v`, and sets it; unless it counts as absent. */
function fieldCode(code: Code, field: string, schema: Schema): string {
  const decoded = valueCode(code, schema, isOptional(schema));
  if (dropsEmpty(schema)) return `${decoded} if (v) ${setting(code, field)}`;
  return needsNoConversion(schema)
    ? `${decoded} ${setting(code, field)}`
    : `${decoded} if (v !== undefined) ${setting(code, field)}`;
}

/** Reports whether an empty list or map counts as absent. */
const isOptional = (schema: Schema) =>
  !schema.zero && !schema.keepEmpty && (schema.type === 'list' || schema.type === 'map');

const setting = (code: Code, field: string): string =>
  field === '__proto__' ? `${code.constant(put)}(out, ${quote(field)}, v);` : `${fieldOf('out', field)} = v;`;

/** Reports whether the empty string counts as absent, as it does in fields with an enum or a default. */
function dropsEmpty(schema: Schema): boolean {
  if (schema.keepEmpty) return false;
  if (schema.type !== 'string') return schema.omitZero === true && schema.type !== 'list' && schema.type !== 'map';
  // With an empty default, an empty string keeps its position among the fields.
  const hasValues = schema.enum !== undefined || (schema.default !== undefined && schema.default !== '');
  return schema.omitZero === true || (!schema.format && hasValues);
}

/** The condition on `v` for types whose values need no conversion. */
function typeCondition(schema: Schema): string | undefined {
  if (schema.lenient) return undefined;
  if (schema.type === 'string' && !schema.format) return "typeof v === 'string'";
  if (schema.type === 'boolean') return "typeof v === 'boolean'";
  if (schema.type === 'integer' && schema.format === 'int32') return "typeof v === 'number' && (v | 0) === v";
  return undefined;
}

const needsNoConversion = (schema: Schema) => typeCondition(schema) !== undefined;

function valueCode(code: Code, schema: Schema, optional = false): string {
  const condition = typeCondition(schema);
  // The scalar's decoder throws the error.
  if (condition) return `if (!(${condition})) ${code.constant(decodeOf(schema, false))}(v);`;
  return isContainer(schema)
    ? `v = ${code.constant((optional ? optionalDecoderOf : decoderOf)(schema))}.decode(v, run);`
    : `v = ${code.constant(decodeOf(schema, false))}(v);`;
}

/** Sets the default of an absent field, or the value of a derived one. */
function defaultCode(code: Code, field: string, schema: Schema): string {
  const at = `at = ${quote(field)};`;
  if (schema.derive) {
    const derived = `v = ${code.constant(schema.derive)}(out);`;
    return `${at} ${derived} if (v !== undefined) { ${setting(code, field)} } else delete ${fieldOf('out', field)};`;
  }
  const value = defaultOf(code, schema);
  if (value === undefined) return '';
  const counted = `run.left -= ${defaultCharacters(field, schema)};`;
  return `if (${read('out', field)} === undefined) { ${at} ${counted} v = ${value}; if (v !== undefined) ${setting(code, field)} }`;
}

/** Values that need not be made anew for each object are constants of the code. */
function defaultOf(code: Code, schema: Schema): string | undefined {
  const { default: preset, zero } = schema;
  if (preset !== undefined && typeof preset !== 'function' && !isCopied(preset)) return code.constant(preset);
  if (preset === undefined && zero && !isContainer(schema)) return code.constant(zeroOf(schema));
  const make = presetOf(schema);
  return make && `${code.constant(make)}(out, run)`;
}

const isCopied = (constant: unknown) => typeof constant === 'object' && constant !== null;

type Preset = (parent: unknown, run: DecodeRun) => unknown;

/** Returns a function that makes the default of a field; undefined if it has none. */
function presetOf(schema: Schema): Preset | undefined {
  const { default: preset, zero } = schema;
  if (typeof preset === 'function') return computed(preset as (parent: unknown) => unknown, schema);
  if (preset !== undefined) return constantOf(schema, preset);
  if (!zero) return undefined;
  if (schema.type === 'list') return () => [];
  return constantOf(schema, isContainer(schema) ? {} : zeroOf(schema));
}

function countedPreset(field: string, schema: Schema): Preset | undefined {
  const preset = presetOf(schema);
  const characters = defaultCharacters(field, schema);
  return (
    preset &&
    ((parent, run) => {
      run.left -= characters;
      if (run.left < 0) rejectDefaults();
      return preset(parent, run);
    })
  );
}

/** A fresh copy of a constant on each call, with defaults applied inside it. */
function constantOf(schema: Schema, constant: unknown): Preset {
  if (!isCopied(constant)) return () => constant;
  const decoder = decoderOf(schema);
  // A constant kept as it is would be shared by all objects.
  return (_, run) => decoder.decode(schema.lenient ? clone(constant) : constant, run);
}

function computed(preset: (parent: unknown) => unknown, schema: Schema): Preset {
  const decoder = decoderOf(schema);
  return (parent, run) => {
    const value = preset(parent);
    if (!isCopied(value)) return value ?? (schema.nullable ? value : undefined);
    return decoder.decode(value, run);
  };
}

function listDecode(schema: ListSchema, optional: boolean): Decode {
  const code = new Code();
  code.add(
    `if (!Array.isArray(input)) ${mismatchCode(code, schema)}`,
    'const length = input.length;',
    ...(optional ? ['if (length === 0) return undefined;'] : []),
    `if (length > ${maxItemsOf(schema)}) ${code.constant(checkLimit)}(run);`,
    'const out = new Array(length); let v;',
    'for (let i = 0; i < length; i++) {',
    '  v = input[i];',
    `  ${nullItemCode(code, schema.items)}`,
    `  else { ${valueCode(code, schema.items)} }`,
    '  out[i] = v;',
    '}',
    'return out;',
  );
  return code.compile('input, run');
}

function mapDecode(schema: MapSchema, optional: boolean): Decode {
  const code = new Code();
  code.add(
    `if (!${code.constant(isTree)}(input)) ${mismatchCode(code, schema)}`,
    'const out = {}; let v, count = 0;',
    'for (const key in input) {',
    ...(schema.lenient && !schema.values.nullable ? ['  if (input[key] === null) continue;'] : []),
    `  if (++count > ${maxItemsOf(schema)}) ${code.constant(checkLimit)}(run);`,
    '  v = input[key];',
    `  ${nullItemCode(code, schema.values)}`,
    `  else { ${valueCode(code, schema.values)} }`,
    `  if (key === '__proto__') ${code.constant(put)}(out, key, v); else out[key] = v;`,
    '}',
    optional ? 'return count === 0 ? undefined : out;' : 'return out;',
  );
  return code.compile('input, run');
}

const mismatch = (input: unknown, expected: string) => new Mismatch(jsonWord(input), expected);

const withinField = (error: unknown, shape: string, field: string) =>
  error instanceof Mismatch ? error.within(shape, field) : error;

/** Replaces a null item of a list or value of a map by the zero value, unless the item is nullable. */
function nullItemCode(code: Code, schema: Schema): string {
  const zero = `v = ${code.constant(zeroItem(schema))}(run);`;
  return schema.nullable || schema.lenient
    ? `if (v === undefined) ${zero} else if (v === null);`
    : `if (v === null || v === undefined) ${zero}`;
}

function zeroItem(schema: Schema): (run: DecodeRun) => unknown {
  switch (schema.type) {
    case 'object':
    case 'map':
    case 'lazy': {
      const decoder = decoderOf(schema);
      return (run) => decoder.decode({}, run);
    }
    case 'list':
      return () => [];
    case 'any':
      return () => null;
    default: {
      const zero = zeroOf(schema) ?? '';
      return () => zero;
    }
  }
}

function lazyDecode(resolve: () => Schema): Decode {
  const decoder = decoderOf(resolve());
  return (input, run) => {
    checkDepth(run.depth);
    run.depth++;
    const decoded = decoder.decode(input, run);
    run.depth--;
    return decoded;
  };
}
