/** Replaces line breaks and other control characters by spaces: texts of other servers must not reach the terminal as commands. */
export function oneLine(text: string): string {
  return text.replace(/\p{Cc}[\s\p{Cc}]*/gu, ' ').trim();
}
