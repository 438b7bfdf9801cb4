/** Reads headers that name users. Other servers send UTF-8, which Node reads as Latin-1. */

/** Reads a header that is expected once. It is not split, because a part of a name would be another user. */
export function textOfHeader(value: string | string[] | undefined): string {
  return decoded((Array.isArray(value) ? value[0] : value) ?? '');
}

/** Reads a header that may be repeated, whose values Node joins with `, `. */
export function valuesOfHeader(value: string | string[] | undefined): string[] {
  if (value === undefined) return [];
  return (Array.isArray(value) ? value : [value]).flatMap((text) => text.split(', ')).map(decoded);
}

const decoded = (text: string) => Buffer.from(text, 'latin1').toString('utf8');

/** Decodes the key in a header name, in which characters not allowed there are percent-encoded. */
export function unescapedKey(key: string): string {
  try {
    return decodeURIComponent(key);
  } catch {
    return key;
  }
}
