/** The objects that a token is bound to, which must exist whenever it is used. */
import { getOrInsert } from '../../../../base/collections/get-or-insert.ts';
import type { Kind, KubeObject } from '../../../../kinds/kind.ts';

/** An object in the cache. It changes only together with its revision. */
export interface CachedObject {
  readonly revision: number;
  hub(kind: Kind): KubeObject;
}

export type Find = (kind: Kind, namespace: string, name: string) => CachedObject | undefined;

interface Table {
  get(namespace: string, name: string): CachedObject | undefined;
}

/** Looks objects up in the cache's tables, each of which is resolved only once. */
export function findIn(tableOf: (kind: Kind) => Table): Find {
  const tables = new WeakMap<Kind, Table>();
  return (kind, namespace, name) => {
    const table = getOrInsert(tables, kind, () => tableOf(kind));
    return table.get(namespace, name);
  };
}

export interface BoundReference {
  readonly kind: Kind;
  readonly namespace: string;
  readonly name: string;
  /** Reports whether it is the same object, and not a later one of that name. */
  readonly isSame: (object: KubeObject) => boolean;
}

/** Time for which an object being deleted still counts, because the clocks of several servers differ. */
const CLOCK_LEEWAY_MS = 60_000;

/** An object that must exist. It is examined only when it has changed. */
export class BoundObject {
  #revision = -1;
  #validUntil = 0;

  constructor(private readonly reference: BoundReference) {}

  exists(find: Find, now: number): boolean {
    const { kind, namespace, name, isSame } = this.reference;
    const found = find(kind, namespace, name);
    if (!found) return false;
    if (found.revision !== this.#revision) {
      const object = found.hub(kind);
      const { deletionTimestamp } = object.metadata;
      this.#revision = found.revision;
      if (!isSame(object)) this.#validUntil = 0;
      else
        this.#validUntil = deletionTimestamp
          ? Date.parse(deletionTimestamp) + CLOCK_LEEWAY_MS
          : Number.POSITIVE_INFINITY;
    }
    return now < this.#validUntil;
  }
}
