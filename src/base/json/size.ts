/** Measures JSON without building its values: parsing deep JSON, or JSON of many parts, blocks the event loop. */

const [QUOTE, BACKSLASH, COMMA, COLON] = [0x22, 0x5c, 0x2c, 0x3a];
const [OPEN_BRACE, OPEN_BRACKET, CLOSE_BRACE, CLOSE_BRACKET] = [0x7b, 0x5b, 0x7d, 0x5d];

interface Limits {
  readonly maxDepth: number;
  /** Limit for fields, list items, objects and lists together. */
  readonly maxParts: number;
}

/** Returns the limit that a text exceeds first; undefined if none. Means nothing for text that is not JSON. */
export function exceeded(text: string, { maxDepth, maxParts }: Limits): 'depth' | 'parts' | undefined {
  let depth = 0;
  let parts = 0;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code === QUOTE) i = endOfString(text, i);
    else if (code === CLOSE_BRACE || code === CLOSE_BRACKET) depth--;
    else {
      const opens = code === OPEN_BRACE || code === OPEN_BRACKET;
      if (opens && ++depth > maxDepth) return 'depth';
      if ((opens || code === COMMA || code === COLON) && ++parts > maxParts) return 'parts';
    }
  }
  return undefined;
}

/** Returns the end of the string that begins at `start`, by the engine's search: most of JSON is strings. */
function endOfString(text: string, start: number): number {
  for (let from = start + 1; ; ) {
    const quote = text.indexOf('"', from);
    if (quote < 0) return text.length;
    let before = quote - 1;
    while (before > start && text.charCodeAt(before) === BACKSLASH) before--;
    // An odd number of backslashes escapes the quote.
    if ((quote - 1 - before) % 2 === 0) return quote;
    from = quote + 1;
  }
}

/** Reports whether no part is nested deeper than the limit. */
export function isShallow(text: string, maxDepth: number): boolean {
  return exceeded(text, { maxDepth, maxParts: Number.POSITIVE_INFINITY }) === undefined;
}

/** Reports whether a JSON document has more fields, list items, objects and lists than the limit. */
export function hasMoreParts(json: Buffer, maxParts: number): boolean {
  return countParts(json, maxParts) > maxParts;
}

/** Counts the fields, list items, objects and lists of a JSON document, up to one more than the maximum. */
export function countParts(json: Buffer, maxParts: number): number {
  // Bytes of multi-byte characters are never counted as syntax, so decoding as Latin-1 is safe.
  const text = json.toString('latin1');
  let parts = 0;
  for (let i = 0; i < text.length && parts <= maxParts; i++) {
    const code = text.charCodeAt(i);
    if (code === QUOTE) i = endOfString(text, i);
    else if (code === COMMA || code === COLON || code === OPEN_BRACE || code === OPEN_BRACKET) parts++;
  }
  return parts;
}
