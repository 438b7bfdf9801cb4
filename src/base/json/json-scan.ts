/** Locates parts of JSON in its bytes, so that unneeded parts are not parsed. */

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPENING_BRACE = 0x7b;
const CLOSING_BRACE = 0x7d;
const OPENING_BRACKET = 0x5b;
const CLOSING_BRACKET = 0x5d;

/** Four quote bytes, to search a word for quotes at once. */
const QUOTES = 0x22222222;
const LOWEST_BITS = 0x01010101;
const HIGHEST_BITS = 0x80808080;

/**
 * JSON as bytes, and the same memory as words of four bytes. Nearly all of a schema is strings, and finding their ends
 * word by word takes half the time of byte by byte (bench/README.md).
 */
interface Json {
  readonly bytes: Uint8Array;
  readonly words: Int32Array;
  /** Number of bytes in the first word that precede the JSON. */
  readonly before: number;
}

function jsonIn(bytes: Uint8Array): Json {
  const before = bytes.byteOffset & 3;
  const words = new Int32Array(bytes.buffer, bytes.byteOffset - before, (bytes.length + before) >> 2);
  return { bytes, words, before };
}

/** The offset of the first quote from `start` on; the length of the JSON when there is none. */
function nextQuote({ bytes, words, before }: Json, start: number): number {
  let at = start;
  for (; at < bytes.length && ((at + before) & 3) !== 0; at++) if (bytes[at] === QUOTE) return at;
  let index = (at + before) >> 2;
  for (; index < words.length; index++) {
    // A byte of the result is zero where there is a quote; then, and only then, the lowest such byte borrows from its
    // highest bit.
    const word = words[index]! ^ QUOTES;
    if (((word - LOWEST_BITS) & ~word & HIGHEST_BITS) !== 0) break;
  }
  for (at = Math.max(at, (index << 2) - before); at < bytes.length; at++) if (bytes[at] === QUOTE) return at;
  return bytes.length;
}

/** The offset behind the string whose opening quote is at `start`. */
function endOfString(json: Json, start: number): number {
  const { bytes } = json;
  for (let quote = start; ; ) {
    const first = quote + 1;
    quote = nextQuote(json, first);
    let before = quote - 1;
    while (before >= first && bytes[before] === BACKSLASH) before--;
    // An odd number of backslashes escapes the quote.
    if ((quote - 1 - before) % 2 === 0 || quote === bytes.length) return Math.min(quote + 1, bytes.length);
  }
}

/** The offset behind the object or list that begins at `start`. The JSON must be valid. */
export function endOfStructure(bytes: Uint8Array, start: number): number {
  return structureEnd(jsonIn(bytes), start);
}

function structureEnd(json: Json, start: number): number {
  const { bytes } = json;
  let depth = 0;
  for (let at = start; at < bytes.length; at++) {
    switch (bytes[at]) {
      case QUOTE:
        at = endOfString(json, at) - 1;
        break;
      case OPENING_BRACE:
      case OPENING_BRACKET:
        depth++;
        break;
      case CLOSING_BRACE:
      case CLOSING_BRACKET:
        if (--depth === 0) return at + 1;
    }
  }
  return bytes.length;
}

/** A field whose value is an object or a list, by the depth of nesting; the fields of the root are at depth 1. */
export interface SkippedField {
  readonly name: string;
  readonly depth: number;
}

/** Parses JSON as `JSON.stringify` writes it, without fields that can be large; in other formats, they stay. */
export function parseWithout(bytes: Buffer, fields: readonly SkippedField[]): unknown {
  const json = jsonIn(bytes);
  const skipped = fields.map(({ name, depth }) => ({ depth, key: Buffer.from(`${JSON.stringify(name)}:`) }));
  const kept: string[] = [];
  let from = 0;
  let depth = 0;
  for (let at = 0; at < bytes.length; at++) {
    switch (bytes[at]) {
      case QUOTE: {
        const field = skipped.find((each) => each.depth === depth && startsAt(bytes, at, each.key));
        const value = field ? at + field.key.length : 0;
        if (field && (bytes[value] === OPENING_BRACE || bytes[value] === OPENING_BRACKET)) {
          kept.push(bytes.toString('utf8', from, value), 'null');
          from = structureEnd(json, value);
          at = from - 1;
        } else at = endOfString(json, at) - 1;
        break;
      }
      case OPENING_BRACE:
      case OPENING_BRACKET:
        depth++;
        break;
      case CLOSING_BRACE:
      case CLOSING_BRACKET:
        depth--;
    }
  }
  kept.push(bytes.toString('utf8', from));
  return JSON.parse(kept.join(''));
}

function startsAt(json: Uint8Array, at: number, key: Uint8Array): boolean {
  for (let i = 0; i < key.length; i++) if (json[at + i] !== key[i]) return false;
  return true;
}
