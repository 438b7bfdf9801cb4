const ESCAPES = new Map([
  ['\x07', '\\a'],
  ['\b', '\\b'],
  ['\f', '\\f'],
  ['\n', '\\n'],
  ['\r', '\\r'],
  ['\t', '\\t'],
  ['\v', '\\v'],
  ['\\', '\\\\'],
  ['"', '\\"'],
]);

/** A text as a literal in double quotes. Halves of surrogate pairs are replaced. */
export function quoted(text: string): string {
  if (/^[ !#-[\]-\u{d7ff}\u{e000}-\u{10ffff}]*$/u.test(text)) return `"${text}"`;
  let result = '';
  for (const character of Buffer.from(text).toString()) result += ESCAPES.get(character) ?? character;
  return `"${result}"`;
}
