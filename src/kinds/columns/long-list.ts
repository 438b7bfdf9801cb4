/** The first few of a list, and how many more there are. */
export function longList(values: readonly string[], { shown = 3, separator = ',' } = {}): string {
  const first = values.slice(0, shown).join(separator);
  return values.length > shown ? `${first} + ${values.length - shown} more...` : first;
}
