/** How large JSON is, found without building its values: parsing what is nested without end, or has no end of parts, blocks the event loop. */

const [QUOTE, BACKSLASH, COMMA, COLON] = [0x22, 0x5c, 0x2c, 0x3a];
const [OPEN_BRACE, OPEN_BRACKET, CLOSE_BRACE, CLOSE_BRACKET] = [0x7b, 0x5b, 0x7d, 0x5d];

interface Limits {
  readonly maxDepth: number;
  /** Of fields, list items, objects and lists together. */
  readonly maxParts: number;
}

/** Which limit a text exceeds first; undefined: none. For text that is no JSON, the answer means nothing. */
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

/** Where the string ends that begins at `start`. Most of JSON is strings: they are searched by the engine, and not in a loop. */
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

/** Whether nothing is nested deeper. */
export function isShallow(text: string, maxDepth: number): boolean {
  return exceeded(text, { maxDepth, maxParts: Number.POSITIVE_INFINITY }) === undefined;
}

/** Whether bytes of JSON have more fields, list items, objects and lists together. */
export function hasMoreParts(json: Buffer, maxParts: number): boolean {
  return countParts(json, maxParts) > maxParts;
}

/** How many fields, list items, objects and lists bytes of JSON have together, counted up to one more than the maximum. */
export function countParts(json: Buffer, maxParts: number): number {
  // No byte of a longer character is one of those that count.
  const text = json.toString('latin1');
  let parts = 0;
  for (let i = 0; i < text.length && parts <= maxParts; i++) {
    const code = text.charCodeAt(i);
    if (code === QUOTE) i = endOfString(text, i);
    else if (code === COMMA || code === COLON || code === OPEN_BRACE || code === OPEN_BRACKET) parts++;
  }
  return parts;
}
