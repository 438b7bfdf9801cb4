/** Reports whether two lists have the same items (===) in the same order. An absent list counts as empty. */
export function sameItems(a: readonly unknown[] = [], b: readonly unknown[] = []): boolean {
  return a === b || (a.length === b.length && a.every((each, index) => each === b[index]));
}
