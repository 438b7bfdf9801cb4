import { isUtf8 } from 'node:buffer';
import { ApiError } from '../../../base/errors.ts';
import { hasMoreParts } from '../../../base/json/size.ts';
import { DecodeError } from './decode-error.ts';
import { describeSyntaxError } from './json-syntax.ts';

/** In a smaller body there is no room for more parts than the maximum. */
const MIN_CHECKED_BYTES = 256 * 1024;
/** Of fields, list items, objects and lists: parsing a body, and collecting what was parsed, takes time for each of them. */
export const MAX_BODY_PARTS = 250_000;

/**
 * Parses a JSON body. Rejects invalid UTF-8, invalid JSON, too deep nesting, and the key `__proto__`; with 413, too many parts.
 */
export function decodeJson(bytes: Buffer, maxDepth: number): unknown {
  if (bytes.length > MIN_CHECKED_BYTES && hasMoreParts(bytes, MAX_BODY_PARTS)) {
    throw new ApiError(
      'RequestEntityTooLarge',
      `Request entity too large: limit is ${MAX_BODY_PARTS} fields and list items`,
    );
  }
  if (!isUtf8(bytes)) throw new DecodeError('the body is not valid UTF-8');
  const text = bytes.toString('utf8');
  if (!isShallow(text, maxDepth) && depthOf(bytes, maxDepth) > maxDepth) {
    throw new DecodeError(`the body is nested deeper than ${maxDepth} levels`);
  }
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    throw new DecodeError(`json parse error: ${describeSyntaxError(bytes)}`, cause);
  }
  if (mayHaveProtoKey(text)) refuseProtoKey(value);
  return value;
}

/** A fast check: the key could also be written with escapes, which are rare. */
function mayHaveProtoKey(text: string): boolean {
  return text.includes('__proto__') || text.includes('\\u00');
}

/** To JSON.parse `__proto__` is an ordinary key, but copying it by assignment would change the copy's prototype. */
function refuseProtoKey(value: unknown): void {
  if (typeof value !== 'object' || value === null) return;
  if (Array.isArray(value)) {
    for (const item of value) refuseProtoKey(item);
    return;
  }
  // Object.entries would make a list of lists, which takes three times as long for a large object.
  for (const key in value) {
    if (key === '__proto__') throw new DecodeError('the key "__proto__" is not allowed');
    refuseProtoKey((value as Record<string, unknown>)[key]);
  }
}

/** A fast check that suffices for nearly every body: it has too few brackets to be nested deeply. */
function isShallow(text: string, limit: number): boolean {
  let found = 0;
  for (const bracket of ['{', '[']) {
    for (let at = text.indexOf(bracket); at >= 0; at = text.indexOf(bracket, at + 1)) {
      if (++found > limit) return false;
    }
  }
  return true;
}

/** The nesting depth of brackets outside strings, counted up to one more than the limit. */
function depthOf(bytes: Buffer, limit: number): number {
  let depth = 0;
  let deepest = 0;
  for (let i = 0; i < bytes.length && deepest <= limit; i++) {
    switch (bytes[i]) {
      case 0x22:
        i = endOfString(bytes, i);
        break;
      case 0x7b:
      case 0x5b:
        deepest = Math.max(deepest, ++depth);
        break;
      case 0x7d:
      case 0x5d:
        depth--;
    }
  }
  return deepest;
}

function endOfString(bytes: Buffer, start: number): number {
  let i = start + 1;
  while (i < bytes.length && bytes[i] !== 0x22) i += bytes[i] === 0x5c ? 2 : 1;
  return i;
}
