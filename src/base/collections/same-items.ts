/** Whether two lists have the same items (===) in the same order. An absent list has none. */
export function sameItems(a: readonly unknown[] = [], b: readonly unknown[] = []): boolean {
  return a === b || (a.length === b.length && a.every((each, index) => each === b[index]));
}
