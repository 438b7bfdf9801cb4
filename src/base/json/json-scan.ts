/** Finds parts of JSON in its bytes, so that what is not needed does not have to be parsed. */

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPENING_BRACE = 0x7b;
const CLOSING_BRACE = 0x7d;
const OPENING_BRACKET = 0x5b;
const CLOSING_BRACKET = 0x5d;

/** Longer strings are searched by native code, whose call takes as long as this many bytes. */
const SHORT_STRING_BYTES = 32;

/** The offset behind the string whose opening quote is at `start`. */
function endOfString(json: Uint8Array, start: number): number {
  const near = Math.min(start + 1 + SHORT_STRING_BYTES, json.length);
  let at = start + 1;
  for (; at < near; at++) {
    const byte = json[at];
    if (byte === QUOTE) return at + 1;
    if (byte === BACKSLASH) at++;
  }
  for (;;) {
    const quote = json.indexOf(QUOTE, at);
    if (quote < 0) return json.length;
    let before = quote - 1;
    while (before >= at && json[before] === BACKSLASH) before--;
    // An odd number of backslashes escapes the quote.
    if ((quote - 1 - before) % 2 === 0) return quote + 1;
    at = quote + 1;
  }
}

/** The offset behind the object or list that begins at `start`. The JSON must be valid. */
export function endOfStructure(json: Uint8Array, start: number): number {
  let depth = 0;
  for (let at = start; at < json.length; at++) {
    switch (json[at]) {
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
  return json.length;
}

/** A field whose value is an object or a list, at a depth of objects and lists; the fields of the root are at depth 1. */
export interface SkippedField {
  readonly name: string;
  readonly depth: number;
}

/** Parses JSON as `JSON.stringify` writes it, without fields that can be large. Where it is written otherwise, they stay. */
export function parseWithout(json: Buffer, fields: readonly SkippedField[]): unknown {
  const skipped = fields.map(({ name, depth }) => ({ depth, key: Buffer.from(`${JSON.stringify(name)}:`) }));
  const kept: string[] = [];
  let from = 0;
  let depth = 0;
  for (let at = 0; at < json.length; at++) {
    switch (json[at]) {
      case QUOTE: {
        const field = skipped.find((each) => each.depth === depth && startsAt(json, at, each.key));
        const value = field ? at + field.key.length : 0;
        if (field && (json[value] === OPENING_BRACE || json[value] === OPENING_BRACKET)) {
          kept.push(json.toString('utf8', from, value), 'null');
          from = endOfStructure(json, value);
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
  kept.push(json.toString('utf8', from));
  return JSON.parse(kept.join(''));
}

function startsAt(json: Uint8Array, at: number, key: Uint8Array): boolean {
  for (let i = 0; i < key.length; i++) if (json[at + i] !== key[i]) return false;
  return true;
}
