/** JSON in the bytes that Go programs write, for data whose bytes other programs compare. */
import { put, type Tree } from './tree.ts';

/**
 * A value as JSON with the characters of HTML escaped. Keys keep their order. JavaScript puts those that are numbers first;
 * where the others are sorted, these are sorted among them.
 */
export function rawJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(rawJson).join(',')}]`;
  if (typeof value !== 'object' || value === null) return escaped(JSON.stringify(value) ?? 'null');
  const fields = keysOf(value as Tree).map((key) => `${escaped(JSON.stringify(key))}:${rawJson((value as Tree)[key])}`);
  return `{${fields.join(',')}}`;
}

/** A copy with all keys sorted, as Go writes maps. */
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

/** Whether JavaScript puts a key before those that are not numbers. */
function isIndex(key: string | undefined): boolean {
  return key !== undefined && /^(0|[1-9]\d{0,9})$/.test(key) && Number(key) < 2 ** 32 - 1;
}

function byBytes(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a), Buffer.from(b));
}

/** They occur in strings only. */
function escaped(json: string): string {
  return json.replace(/[<>&\u2028\u2029]/g, (character) => {
    return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
  });
}
