import { isMap, mapGet, mapKeys, mapSize } from './map.ts';
import { ObjectValue, Optional, type Value } from './value.ts';

/** Counts the characters (code points), bytes, items or entries of a value; undefined when it has no size. */
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

function codePoints(text: string): number {
  let pairs = 0;
  for (let i = 1; i < text.length; i++) {
    if ((text.charCodeAt(i) & 0xfc00) === 0xdc00 && (text.charCodeAt(i - 1) & 0xfc00) === 0xd800) pairs++;
  }
  return text.length - pairs;
}

/** The largest objects have as many. A value that an expression made may hold another one twice, and that again, to no end. */
const MAX_VALUES = 250_000;

/** Size of a value with everything in it. */
export interface DeepSize {
  /** Infinite where there are too many to be counted. */
  readonly values: number;
  readonly characters: number;
}

export function deepSizeOf(value: Value): DeepSize {
  const counter = new ValueCounter();
  counter.add(value);
  return counter;
}

/** Counts the values in the items of a list. */
export function valuesInside(list: Value): number {
  const counter = new ValueCounter();
  counter.addInside(list);
  return counter.values;
}

class ValueCounter implements DeepSize {
  values = 0;
  characters = 0;

  add(value: Value): void {
    this.values++;
    if (typeof value === 'string' || value instanceof Uint8Array) this.characters += value.length;
    else if (typeof value === 'object' && value !== null) this.#addParts(value);
  }

  addInside(list: Value): void {
    if (Array.isArray(list))
      for (const item of list) if (typeof item === 'object' && item !== null) this.#addParts(item);
  }

  #addParts(value: Value & object): void {
    if (this.values > MAX_VALUES) {
      this.values = Number.POSITIVE_INFINITY;
      return;
    }
    if (Array.isArray(value)) for (const item of value) this.add(item);
    else if (isMap(value)) for (const key of mapKeys(value)) this.#addEntry(key, mapGet(value, key)!);
    else if (value instanceof ObjectValue) {
      for (const key of Object.keys(value.fields)) this.#addEntry(key, value.fields[key]!);
    } else if (value instanceof Optional && value.value !== undefined) this.add(value.value);
  }

  #addEntry(key: Value, value: Value): void {
    this.add(key);
    this.add(value);
  }
}
