/** Keys of objects in the store: `/registry/GROUP/PLURAL/NAMESPACE/NAME`; cluster-scoped ones have no namespace. */
import type { Kind } from '../../../kinds/kind.ts';

export const ROOT = '/registry/';

/** Keys of kinds that change constantly: heartbeats, and records of events. */
export const EPHEMERAL_PREFIXES = [
  `${ROOT}coordination.k8s.io/leases/`,
  `${ROOT}core/events/`,
  `${ROOT}events.k8s.io/events/`,
];

/** Returns the name of a kind's table in the cache: `core/pods`, `apps/deployments`. */
export function tableName(kind: Pick<Kind, 'group' | 'plural'>): string {
  return `${kind.group || 'core'}/${kind.plural}`;
}

export function keyOf(kind: Pick<Kind, 'group' | 'plural'>, namespace: string, name: string): string {
  return namespace ? `${ROOT}${tableName(kind)}/${namespace}/${name}` : `${ROOT}${tableName(kind)}/${name}`;
}

export interface ObjectKey {
  readonly key: string;
  readonly namespace: string;
  readonly name: string;
}

export interface KeyParts {
  readonly table: string;
  readonly namespace: string;
  readonly name: string;
}

/** Splits the key of an object; returns undefined for any other key. */
export function parseKey(key: string): KeyParts | undefined {
  if (!key.startsWith(ROOT)) return undefined;
  const group = key.indexOf('/', ROOT.length);
  const plural = key.indexOf('/', group + 1);
  if (group < 0 || plural < 0) return undefined;
  const table = key.slice(ROOT.length, plural);
  const slash = key.indexOf('/', plural + 1);
  if (slash < 0) return { table, namespace: '', name: key.slice(plural + 1) };
  return { table, namespace: key.slice(plural + 1, slash), name: key.slice(slash + 1) };
}
