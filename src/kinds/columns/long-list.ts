/** Shows the first few values of a list, and the number of further ones. */
export function longList(values: readonly string[], { shown = 3, separator = ',' } = {}): string {
  const first = values.slice(0, shown).join(separator);
  return values.length > shown ? `${first} + ${values.length - shown} more...` : first;
}
