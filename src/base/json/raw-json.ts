/** JSON encoded byte for byte as Go does, for data whose bytes other programs compare. */
import { put, type Tree } from './tree.ts';

/**
 * Encodes a value as JSON with the characters of HTML escaped. Keys keep their order. JavaScript puts numeric keys
 * first; where the other keys are sorted, numeric ones are sorted among them.
 */
export function rawJson(value: unknown): string {
  return hasIndexes(value) ? slowJson(value) : escaped(JSON.stringify(value) ?? 'null');
}

/** Reports whether JavaScript may have reordered the keys of an object. Large data rarely has such keys. */
function hasIndexes(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  if (Array.isArray(value)) return value.some(hasIndexes);
  let isFirst = true;
  for (const key in value) {
    if (isFirst && isIndex(key)) return true;
    isFirst = false;
    if (hasIndexes((value as Tree)[key])) return true;
  }
  return false;
}

function slowJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(slowJson).join(',')}]`;
  if (typeof value !== 'object' || value === null) return escaped(JSON.stringify(value) ?? 'null');
  const fields = keysOf(value as Tree).map(
    (key) => `${escaped(JSON.stringify(key))}:${slowJson((value as Tree)[key])}`,
  );
  return `{${fields.join(',')}}`;
}

/** Returns a copy with all keys sorted, as Go writes maps. */
export function withSortedKeys(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withSortedKeys);
  if (typeof value !== 'object' || value === null) return value;
  const out: Tree = {};
  for (const key of Object.keys(value).sort(byBytes)) put(out, key, withSortedKeys((value as Tree)[key]));
  return out;
}

function keysOf(object: Tree): string[] {
  const keys = Object.keys(object).filter((key) => object[key] !== undefined);
  if (!isIndex(keys[0])) return keys;
  const others = keys.filter((key) => !isIndex(key));
  const areSorted = others.every((key, index) => index === 0 || byBytes(others[index - 1]!, key) < 0);
  return areSorted ? keys.sort(byBytes) : keys;
}

/** Reports whether a key is an array index, which JavaScript puts before other keys. */
function isIndex(key: string | undefined): boolean {
  return key !== undefined && /^(0|[1-9]\d{0,9})$/.test(key) && Number(key) < 2 ** 32 - 1;
}

/** Compares by code points, which matches UTF-16 order except for surrogates. */
function byBytes(a: string, b: string): number {
  const length = Math.min(a.length, b.length);
  for (let i = 0; i < length; i++) {
    const [one, other] = [a.charCodeAt(i), b.charCodeAt(i)];
    if (one === other) continue;
    if (one < FIRST_SURROGATE && other < FIRST_SURROGATE) return one - other;
    break;
  }
  return Buffer.compare(Buffer.from(a), Buffer.from(b));
}

const FIRST_SURROGATE = 0xd800;

/** Escapes the characters that Go escapes, which occur in strings only. */
function escaped(json: string): string {
  return json.replace(/[<>&\u2028\u2029]/g, (character) => {
    return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
  });
}
