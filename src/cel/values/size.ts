import { isMap, type JsonObject, MapValue, mapGet, mapKeys, mapSize } from './map.ts';
import { Optional, type Value } from './value.ts';

/** How many characters (code points), bytes, items or entries a value has; undefined when it has no size. */
export function sizeOf(value: Value): number | undefined {
  if (typeof value === 'string') return codePoints(value);
  if (Array.isArray(value) || value instanceof Uint8Array) return value.length;
  return isMap(value) ? countedSize(value) : undefined;
}

/** The size that costs are computed from: 1 for values without one. */
export function costSizeOf(value: Value): number {
  if (value instanceof Optional && value.value !== undefined) return costSizeOf(value.value);
  return sizeOf(value) ?? 1;
}

/** Counting the keys of a large object takes long, and an expression may ask for it in a loop. */
const LARGE = 1_000;
let counted: Map<object, number> | undefined;

/** Called between evaluations: objects may change after one. */
export function forgetSizes(): void {
  counted = undefined;
}

function countedSize(map: MapValue | JsonObject): number {
  const known = counted?.get(map);
  if (known !== undefined) return known;
  const size = mapSize(map);
  if (size > LARGE && !(map instanceof MapValue)) {
    counted ??= new Map();
    counted.set(map, size);
  }
  return size;
}

function codePoints(text: string): number {
  let pairs = 0;
  for (let i = 1; i < text.length; i++) {
    if ((text.charCodeAt(i) & 0xfc00) === 0xdc00 && (text.charCodeAt(i - 1) & 0xfc00) === 0xd800) pairs++;
  }
  return text.length - pairs;
}

/** How many characters and values a value consists of, with everything in it. */
export function deepSize(value: Value): number {
  if (Array.isArray(value)) return value.reduce((sum: number, item) => sum + deepSize(item), 1);
  if (isMap(value))
    return mapKeys(value).reduce<number>((sum, key) => sum + deepSize(key) + deepSize(mapGet(value, key)!), 1);
  return typeof value === 'string' || value instanceof Uint8Array ? 1 + value.length : 1;
}
