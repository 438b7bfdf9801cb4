/** Where objects stand in the store: `/registry/GROUP/PLURAL/NAMESPACE/NAME`, and without the namespace where there is none. */
import type { Kind } from '../../kinds/kind.ts';

export const ROOT = '/registry/';

/** What tells the tables of the cache apart: `core/pods`, `apps/deployments`. */
export function tableName(kind: Pick<Kind, 'group' | 'plural'>): string {
  return `${kind.group || 'core'}/${kind.plural}`;
}

export function keyOf(kind: Pick<Kind, 'group' | 'plural'>, namespace: string, name: string): string {
  return namespace ? `${ROOT}${tableName(kind)}/${namespace}/${name}` : `${ROOT}${tableName(kind)}/${name}`;
}

export interface KeyParts {
  readonly table: string;
  readonly namespace: string;
  readonly name: string;
}

/** Undefined for a key that is no object's. */
export function parseKey(key: string): KeyParts | undefined {
  const parts = key.split('/');
  if (parts[1] !== 'registry' || parts.length < 5 || parts.length > 6) return undefined;
  const [, , group, plural, third, fourth] = parts;
  const table = `${group}/${plural}`;
  return fourth === undefined
    ? { table, namespace: '', name: third ?? '' }
    : { table, namespace: third ?? '', name: fourth };
}
