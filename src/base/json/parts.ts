/** How many parts JSON has, found without building its values: parsing very many of them blocks the event loop. */

const [QUOTE, BACKSLASH, COMMA, COLON, OPEN_BRACE, OPEN_BRACKET] = Buffer.from('"\\,:{[');

/** Whether a text has no more fields, list items, objects and lists. For text that is no JSON, the answer means nothing. */
export function hasFewParts(text: string, maxParts: number): boolean {
  // Every part takes a character at least.
  if (text.length <= maxParts) return true;
  let parts = 0;
  let isQuoted = false;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (isQuoted) {
      if (code === BACKSLASH) i++;
      else if (code === QUOTE) isQuoted = false;
    } else if (code === QUOTE) isQuoted = true;
    else if (code === COMMA || code === COLON || code === OPEN_BRACE || code === OPEN_BRACKET) {
      if (++parts > maxParts) return false;
    }
  }
  return true;
}
