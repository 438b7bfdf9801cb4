/** Indexes items by a key, for lookups in constant time. Of several items with the same key, the first is used. */
export function indexBy<T, K>(items: readonly T[] | undefined, key: (item: T) => K): Map<K, T> {
  const index = new Map<K, T>();
  for (const item of items ?? []) {
    const id = key(item);
    if (!index.has(id)) index.set(id, item);
  }
  return index;
}
