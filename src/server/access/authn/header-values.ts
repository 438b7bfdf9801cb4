/** Reads headers that name users. Other servers write UTF-8, which Node reads as Latin-1. */

/** A header that is expected once: it is not divided, because a part of a name would be another user. */
export function textOfHeader(value: string | string[] | undefined): string {
  return decoded((Array.isArray(value) ? value[0] : value) ?? '');
}

/** Node joins repeated headers with `, `. */
export function valuesOfHeader(value: string | string[] | undefined): string[] {
  if (value === undefined) return [];
  return (Array.isArray(value) ? value : [value]).flatMap((text) => text.split(', ')).map(decoded);
}

const decoded = (text: string) => Buffer.from(text, 'latin1').toString('utf8');

/** The key in the name of a header, in which what cannot be in a name is percent-encoded. */
export function unescapedKey(key: string): string {
  try {
    return decodeURIComponent(key);
  } catch {
    return key;
  }
}
