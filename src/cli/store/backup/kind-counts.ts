/** Counts the objects of a backup by kind. */
import { tableOf } from '../../up/upgrade/preview/inspect.ts';

interface ServedKind {
  readonly apiVersion: string;
  readonly kind: string;
  readonly plural: string;
}

/** Rows outside of the API are not counted. Kinds that are not served go by their resource. */
export function kindCounts(
  rows: readonly { readonly key: string }[],
  served: readonly ServedKind[],
): readonly { readonly kind: string; readonly count: number }[] {
  const names = new Map<string, string>();
  for (const { apiVersion, kind, plural } of served) {
    const group = apiVersion.includes('/') ? apiVersion.slice(0, apiVersion.indexOf('/')) : '';
    const table = `${group || 'core'}/${plural}`;
    if (!names.has(table)) names.set(table, group === '' ? kind : `${kind}.${group}`);
  }
  const counts = new Map<string, number>();
  for (const { key } of rows) {
    const table = tableOf(key);
    if (table === undefined) continue;
    const name = names.get(table) ?? table;
    counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  return [...counts].map(([kind, count]) => ({ kind, count })).sort((a, b) => (a.kind < b.kind ? -1 : 1));
}
