import { isUtf8 } from 'node:buffer';
import { DecodeError } from './decode-error.ts';
import { explainJson } from './json-syntax.ts';

/** Parses a body; refuses what is no JSON, no text, nested too deeply, or names a key that no object may have. */
export function decodeJson(bytes: Buffer, depth: number): unknown {
  if (!isUtf8(bytes)) throw new DecodeError('the body is not valid UTF-8');
  const text = bytes.toString('utf8');
  if (!isShallow(text, depth) && depthOf(bytes, depth) > depth) {
    throw new DecodeError(`the body is nested deeper than ${depth} levels`);
  }
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    throw new DecodeError(`json parse error: ${explainJson(bytes)}`, cause);
  }
  if (mayHaveHostileKeys(text)) refuseHostileKeys(value);
  return value;
}

/** Escapes can spell the key another way, and are rare enough to be looked at. */
function mayHaveHostileKeys(text: string): boolean {
  return text.includes('__proto__') || text.includes('\\u00');
}

/**
 * `__proto__` is a key like any other to the parser, but whoever copies the object with an assignment would change the
 * copy's prototype instead.
 */
function refuseHostileKeys(value: unknown): void {
  if (typeof value !== 'object' || value === null) return;
  for (const [key, child] of Object.entries(value)) {
    if (key === '__proto__') throw new DecodeError('the key "__proto__" is not allowed');
    refuseHostileKeys(child);
  }
}

/** Nearly no body has enough brackets to be deep, and the search for them is native. */
function isShallow(text: string, limit: number): boolean {
  let found = 0;
  for (const bracket of ['{', '[']) {
    for (let at = text.indexOf(bracket); at >= 0; at = text.indexOf(bracket, at + 1)) {
      if (++found > limit) return false;
    }
  }
  return true;
}

/** How deep brackets go outside strings, counted up to one beyond the limit. */
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
