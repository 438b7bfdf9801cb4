/** The types of schemas in CEL, and the largest sizes of their values. */
import { getOrInsert } from '../../../base/collections/get-or-insert.ts';
import {
  BOOL,
  BYTES,
  DOUBLE,
  DURATION,
  DYN,
  type Field,
  INT,
  listType,
  mapType,
  objectType,
  STRING,
  TIMESTAMP,
  type Type,
} from '../../../cel/types/type.ts';
import { itemsOf, type JsonSchema, valuesOf } from '../../../json-schema/json-schema.ts';
import { listTypeOperators } from './list-types.ts';

/** Costs are estimated for the largest request that Kubernetes takes. */
export const MAX_REQUEST_BYTES = 3 * 1024 * 1024;

/** Schema as expressions see it. */
export interface DeclaredType {
  readonly type: Type;
  /** Characters, items or entries of a value; 0 for values without a size. */
  readonly maxElements: number;
  /** The shortest value as JSON, in bytes. */
  readonly minBytes: number;
  /** Element type of lists and maps. */
  readonly element?: DeclaredType;
  /** Returns a field of an object by its name in expressions. */
  readonly field?: (name: string) => DeclaredField | undefined;
}

interface DeclaredField {
  readonly declared: DeclaredType;
  /** Name of the field in objects. */
  readonly property: string;
}

const MIN_STRING_BYTES = 2;
const MIN_BOOLEAN_BYTES = 4;
const MIN_NUMBER_BYTES = 1;
const MAX_STRING_LENGTH = MAX_REQUEST_BYTES - 2;
/** A character has up to four bytes. */
const MAX_CHARACTER_BYTES = 4;

/** Kubernetes estimates the keys of maps as if they were empty. */
const KEY: DeclaredType = { type: STRING, maxElements: 0, minBytes: MIN_STRING_BYTES };

const FIXED: Readonly<Record<string, DeclaredType>> = {
  boolean: { type: BOOL, maxElements: 0, minBytes: MIN_BOOLEAN_BYTES },
  number: { type: DOUBLE, maxElements: 0, minBytes: MIN_NUMBER_BYTES },
  integer: { type: INT, maxElements: 0, minBytes: MIN_NUMBER_BYTES },
};

/** Strings that are times; the sizes are those of JSON, with quotes. */
const TIMES: Readonly<Record<string, DeclaredType>> = {
  duration: { type: DURATION, maxElements: 32, minBytes: 3 },
  date: { type: TIMESTAMP, maxElements: 12, minBytes: 12 },
  'date-time': { type: TIMESTAMP, maxElements: 32, minBytes: 21 },
};

/** The names of objects in messages. */
const ROOT_NAME = 'selfType';

/** The fields that every object has, as far as expressions see them. */
const META: Readonly<Record<string, JsonSchema>> = {
  kind: { type: 'string' },
  apiVersion: { type: 'string' },
  metadata: { type: 'object', properties: { name: { type: 'string' }, generateName: { type: 'string' } } },
};

const known = new WeakMap<JsonSchema, DeclaredType | 'none'>();

/** The type of a schema; undefined where expressions cannot use its values. `isRoot`: it is one of an API object. */
export function declaredType(schema: JsonSchema, isRoot = isEmbedded(schema)): DeclaredType | undefined {
  // The root schema of a kind is always requested as a root.
  const declared = getOrInsert(known, schema, () => declare(schema, isRoot) ?? 'none');
  return declared === 'none' ? undefined : declared;
}

const isEmbedded = (schema: JsonSchema) => schema['x-kubernetes-embedded-resource'] === true;

function declare(schema: JsonSchema, isRoot: boolean): DeclaredType | undefined {
  if (schema['x-kubernetes-int-or-string']) return { type: DYN, maxElements: textLength(schema), minBytes: 1 };
  switch (schema.type) {
    case 'array':
      return listOf(schema);
    case 'object':
      return valuesOf(schema) ? mapOf(schema) : objectOf(schema, isRoot);
    case 'string':
      return textOf(schema);
    default:
      return FIXED[schema.type ?? ''];
  }
}

const bounded = (limit: number) => Math.max(0, limit);

function textLength({ maxLength, enum: allowed }: JsonSchema): number {
  if (maxLength !== undefined) return bounded(maxLength) * MAX_CHARACTER_BYTES;
  if (!allowed?.length) return MAX_STRING_LENGTH;
  return allowed.reduce<number>((most, each) => (typeof each === 'string' ? Math.max(most, each.length) : most), 0);
}

function textOf(schema: JsonSchema): DeclaredType {
  const { format = '', maxLength } = schema;
  if (Object.hasOwn(TIMES, format)) return TIMES[format]!;
  if (format === 'byte') {
    const maxElements = maxLength === undefined ? MAX_STRING_LENGTH : bounded(maxLength);
    return { type: BYTES, maxElements, minBytes: MIN_STRING_BYTES };
  }
  return { type: STRING, maxElements: textLength(schema), minBytes: MIN_STRING_BYTES };
}

function listOf(schema: JsonSchema): DeclaredType | undefined {
  const items = itemsOf(schema);
  const element = items && declaredType(items);
  if (!element) return undefined;
  const most = Math.floor((MAX_REQUEST_BYTES - 2) / (element.minBytes + 1));
  const maxElements = schema.maxItems === undefined ? most : bounded(schema.maxItems);
  return { type: listType(element.type, listTypeOperators(schema)), maxElements, minBytes: 2, element };
}

/** Bytes of an entry besides its value: quotes, a key, a colon and a comma. */
const MIN_ENTRY_BYTES = 6;

function mapOf(schema: JsonSchema): DeclaredType | undefined {
  const element = declaredType(valuesOf(schema)!);
  if (!element) return undefined;
  const most = Math.floor((MAX_REQUEST_BYTES - 2) / (element.minBytes + MIN_ENTRY_BYTES));
  const maxElements = schema.maxProperties === undefined ? most : bounded(schema.maxProperties);
  return { type: mapType(STRING, element.type, listTypeOperators(schema)), maxElements, minBytes: 2, element };
}

/** Quotes, a colon and a comma. */
const FIELD_BYTES = 4;

function objectOf(schema: JsonSchema, isRoot: boolean): DeclaredType {
  const field = fieldsOf(isRoot ? withMeta(schema.properties) : schema.properties);
  const fieldOf = (name: string): Field | undefined => {
    const found = field(name);
    return found && { type: found.declared.type, property: found.property };
  };
  let minBytes: number | undefined;
  return {
    type: objectType(`${ROOT_NAME}${++objects}`, fieldOf, listTypeOperators(schema)),
    maxElements: 0,
    get minBytes() {
      minBytes ??= minObjectBytes(schema);
      return minBytes;
    },
    field,
  };
}

/** Numbers object types: two with one name would be the same. */
let objects = 0;

function minObjectBytes({ properties = {}, required = [] }: JsonSchema): number {
  let bytes = 2;
  for (const name of required) {
    const property = Object.hasOwn(properties, name) ? properties[name]! : undefined;
    const declared = property && property.default === undefined ? declaredType(property) : undefined;
    if (declared) bytes += Buffer.byteLength(name) + declared.minBytes + FIELD_BYTES;
  }
  return bytes;
}

function withMeta(properties: JsonSchema['properties'] = {}): JsonSchema['properties'] {
  const { metadata } = properties;
  return {
    ...properties,
    ...META,
    metadata: { ...META.metadata, ...metadata, properties: { ...META.metadata!.properties, ...metadata?.properties } },
  };
}

/** Finds fields by the names that expressions use. A schema may have thousands, of which few are used. */
function fieldsOf(properties: JsonSchema['properties'] = {}): (name: string) => DeclaredField | undefined {
  let names: Map<string, string> | undefined;
  return (name) => {
    names ??= new Map(Object.keys(properties).map((each) => [escapedName(each) ?? '', each]));
    const property = name === '' ? undefined : names.get(name);
    const declared = property === undefined ? undefined : declaredType(properties[property]!);
    return declared && { declared, property: property! };
  };
}

/** Returns the size of the value at a path, which begins with a variable; undefined if it is not known. */
export function maxSizeAt(root: DeclaredType, path: readonly string[]): number | undefined {
  let at: DeclaredType | undefined = root;
  for (const step of path.slice(1)) {
    if (step === '@items' || step === '@values') at = at.element;
    else if (step === '@keys') at = at.element ? KEY : undefined;
    else at = at.field?.(step)?.declared;
    if (!at) return undefined;
  }
  return at.maxElements;
}

const RESERVED: ReadonlySet<string> = new Set([
  ...['true', 'false', 'null', 'in', 'as', 'break', 'const', 'continue', 'else', 'for', 'function', 'if', 'import'],
  ...['let', 'loop', 'package', 'namespace', 'return', 'var', 'void', 'while'],
]);

const ESCAPES: Readonly<Record<string, string>> = {
  __: '__underscores__',
  '.': '__dot__',
  '-': '__dash__',
  '/': '__slash__',
};

/** The name of a field in expressions; undefined where it cannot have one. */
function escapedName(name: string): string | undefined {
  if (RESERVED.has(name)) return `__${name}__`;
  if (!/^[a-zA-Z_./-][a-zA-Z0-9_./-]*$/.test(name)) return undefined;
  return name.replace(/__|[./-]/g, (part) => ESCAPES[part]!);
}
