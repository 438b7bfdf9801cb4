/** Appends items to a list. `list.push(...items)` would need stack space for each item, and fails for long lists. */
export function addAll<T>(list: T[], items: readonly T[]): void {
  for (const item of items) list.push(item);
}
