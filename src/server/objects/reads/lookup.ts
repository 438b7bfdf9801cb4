/** Lookups of other objects in the cache, for plugins. */
import type { Kind, KubeObject } from '../../../kinds/kind.ts';
import type { Table } from '../cache/table.ts';
import type { Reader } from '../ports.ts';

type Ports = Pick<Reader, 'cache'>;

export function objectNamed<T extends KubeObject>(
  core: Ports,
  kind: Kind<T>,
  namespace: string,
  name: string,
): T | undefined {
  return core.cache.table(kind).get(namespace, name)?.hub(kind) as T | undefined;
}

/** Returns an object once the cache has caught up with the store: another server may just have created it. */
export async function freshObjectNamed<T extends KubeObject>(
  core: Ports,
  kind: Kind<T>,
  namespace: string,
  name: string,
): Promise<T | undefined> {
  await core.cache.fresh();
  return objectNamed(core, kind, namespace, name);
}

/** Returns all objects of a namespace; with an empty namespace all objects of the kind. */
export function objectsIn<T extends KubeObject>(core: Ports, kind: Kind<T>, namespace: string): readonly T[] {
  return core.cache
    .table(kind)
    .entries(namespace)
    .map((entry) => entry.hub(kind) as T);
}

/** Computes something from all objects of a kind, and caches it until one of them changes. */
export function derivedFrom<T extends KubeObject, R>(
  kind: Kind<T>,
  work: (objects: readonly T[]) => R,
): (core: Ports) => R {
  const known = new WeakMap<Table, { generation: number; result: R }>();
  return (core) => {
    const table = core.cache.table(kind);
    const kept = known.get(table);
    if (kept?.generation === table.generation) return kept.result;
    const result = work(objectsIn(core, kind, ''));
    known.set(table, { generation: table.generation, result });
    return result;
  };
}
