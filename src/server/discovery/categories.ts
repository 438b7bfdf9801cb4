import type { Resource } from '../registry.ts';

/** A kind that several groups serve is in its categories once, so that `kubectl get all` shows each object once. */
export function categoriesOf({ kind, version }: Resource): { categories?: readonly string[] } {
  return kind.categories.length > 0 && version.group === kind.hub.group ? { categories: kind.categories } : {};
}
