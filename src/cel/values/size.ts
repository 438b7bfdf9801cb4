import { isMap, mapSize } from './map.ts';
import { Optional, type Value } from './value.ts';

/** How many characters (code points), bytes, items or entries a value has; undefined when it has no size. */
export function sizeOf(value: Value): number | undefined {
  if (typeof value === 'string') return codePoints(value);
  if (Array.isArray(value) || value instanceof Uint8Array) return value.length;
  return isMap(value) ? mapSize(value) : undefined;
}

/** The size that costs are computed from: 1 for values without one. */
export function costSizeOf(value: Value): number {
  if (value instanceof Optional && value.value !== undefined) return costSizeOf(value.value);
  return sizeOf(value) ?? 1;
}

export function codePoints(text: string): number {
  let pairs = 0;
  for (let i = 1; i < text.length; i++) {
    if ((text.charCodeAt(i) & 0xfc00) === 0xdc00 && (text.charCodeAt(i - 1) & 0xfc00) === 0xd800) pairs++;
  }
  return text.length - pairs;
}
