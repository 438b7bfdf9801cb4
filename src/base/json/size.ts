/** How large JSON is, found without building its values: parsing what is nested without end, or has no end of parts, blocks the event loop. */

const [QUOTE, BACKSLASH, COMMA, COLON] = Buffer.from('"\\,:');
const [OPEN_BRACE, OPEN_BRACKET, CLOSE_BRACE, CLOSE_BRACKET] = Buffer.from('{[}]');

interface Limits {
  readonly maxDepth: number;
  /** Of fields, list items, objects and lists together. */
  readonly maxParts: number;
}

/** Which limit a text exceeds first; undefined: none. For text that is no JSON, the answer means nothing. */
export function exceeded(text: string, { maxDepth, maxParts }: Limits): 'depth' | 'parts' | undefined {
  let depth = 0;
  let parts = 0;
  let isQuoted = false;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (isQuoted) {
      if (code === BACKSLASH) i++;
      else if (code === QUOTE) isQuoted = false;
    } else if (code === QUOTE) isQuoted = true;
    else if (code === CLOSE_BRACE || code === CLOSE_BRACKET) depth--;
    else {
      const opens = code === OPEN_BRACE || code === OPEN_BRACKET;
      if (opens && ++depth > maxDepth) return 'depth';
      if ((opens || code === COMMA || code === COLON) && ++parts > maxParts) return 'parts';
    }
  }
  return undefined;
}

/** Whether nothing is nested deeper. */
export function isShallow(text: string, maxDepth: number): boolean {
  return exceeded(text, { maxDepth, maxParts: Number.POSITIVE_INFINITY }) === undefined;
}

/** Whether bytes of JSON have more fields, list items, objects and lists together. */
export function hasMoreParts(json: Buffer, maxParts: number): boolean {
  const end = json.length;
  let parts = 0;
  for (let i = 0; i < end && parts <= maxParts; i++) {
    switch (json[i]) {
      case QUOTE:
        for (i++; i < end && json[i] !== QUOTE; i++) if (json[i] === BACKSLASH) i++;
        break;
      case COMMA:
      case COLON:
      case OPEN_BRACE:
      case OPEN_BRACKET:
        parts++;
    }
  }
  return parts > maxParts;
}
