/** Maps that expressions make; their keys may be strings, booleans and numbers. Maps of JSON stay plain objects. */
import { MAP_OF_DYN, type Type } from '../types/type.ts';
import { fail } from './failure.ts';
import { isDouble } from './numbers.ts';
import { BoxedValue, Double, Uint, type Value } from './value.ts';

type Key = string | boolean | number | bigint;
export type JsonObject = { readonly [key: string]: Value };

export class MapValue extends BoxedValue {
  /** Entries by normalized key: 1, 1u and 1.0 are one. */
  readonly #entries = new Map<Key, { readonly key: Value; readonly value: Value }>();

  #keys: readonly Value[] | undefined;

  get type(): Type {
    return MAP_OF_DYN;
  }

  get size(): number {
    return this.#entries.size;
  }

  get(key: Value): Value | undefined {
    const normalized = normalizedKey(key);
    return normalized === undefined ? undefined : this.#entries.get(normalized)?.value;
  }

  keys(): readonly Value[] {
    this.#keys ??= Array.from(this.#entries.values(), ({ key }) => key);
    return this.#keys;
  }

  /** Inserts an entry. Only for the code that makes the map, before anything else sees it. */
  insert(key: Value, value: Value): void {
    const normalized = normalizedKey(key);
    if (normalized === undefined || isDouble(key)) fail('unsupported key type');
    if (this.#entries.has(normalized)) fail(`Failed with repeated key`);
    this.#entries.set(normalized, { key, value });
    this.#keys = undefined;
  }
}

function normalizedKey(key: Value): Key | undefined {
  switch (typeof key) {
    case 'string':
    case 'boolean':
    case 'number':
    case 'bigint':
      return key;
    default:
      return key instanceof Uint || key instanceof Double ? key.value : undefined;
  }
}

function isJsonObject(value: Value): value is JsonObject {
  return (
    typeof value === 'object' &&
    value !== null &&
    !Array.isArray(value) &&
    !(value instanceof BoxedValue) &&
    (Object.getPrototypeOf(value) === Object.prototype || Object.getPrototypeOf(value) === null)
  );
}

export function isMap(value: Value): value is MapValue | JsonObject {
  return value instanceof MapValue || isJsonObject(value);
}

export function mapGet(map: MapValue | JsonObject, key: Value): Value | undefined {
  if (map instanceof MapValue) return map.get(key);
  return typeof key === 'string' && Object.hasOwn(map, key) ? map[key] : undefined;
}

/** Number of keys from which the list of keys is kept: an expression may list them in a loop, for one step. */
const LARGE = 64;
let listed: Map<JsonObject, readonly string[]> | undefined;

/** Called between evaluations: objects may change after one. */
export function forgetKeys(): void {
  listed = undefined;
}

export function mapKeys(map: MapValue | JsonObject): readonly Value[] {
  return map instanceof MapValue ? map.keys() : keysOf(map);
}

export function mapSize(map: MapValue | JsonObject): number {
  return map instanceof MapValue ? map.size : keysOf(map).length;
}

function keysOf(object: JsonObject): readonly string[] {
  const known = listed?.get(object);
  if (known !== undefined) return known;
  const keys = Object.keys(object);
  if (keys.length > LARGE) {
    listed ??= new Map();
    listed.set(object, keys);
  }
  return keys;
}
