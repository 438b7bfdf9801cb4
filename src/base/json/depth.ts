/** How deep JSON is nested, found without building its values: parsing what is nested without end blocks the event loop. */

const [QUOTE, BACKSLASH, OPEN_BRACE, OPEN_BRACKET, CLOSE_BRACE, CLOSE_BRACKET] = Buffer.from('"\\{[}]');

/** Whether nothing is nested deeper. For text that is no JSON, the answer means nothing. */
export function isShallow(text: string, maxDepth: number): boolean {
  let depth = 0;
  let isQuoted = false;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (isQuoted) {
      if (code === BACKSLASH) i++;
      else if (code === QUOTE) isQuoted = false;
    } else if (code === QUOTE) isQuoted = true;
    else if (code === OPEN_BRACE || code === OPEN_BRACKET) {
      if (++depth > maxDepth) return false;
    } else if (code === CLOSE_BRACE || code === CLOSE_BRACKET) depth--;
  }
  return true;
}
