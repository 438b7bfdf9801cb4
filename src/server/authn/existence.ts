/** Whether what a token was made for is still there, asked at every use and answered from the cache. */
import type { Kind, KubeObject } from '../../kinds/kind.ts';

/** An object as the cache has it: as long as its revision is the same, so is everything in it. */
export interface Found {
  readonly revision: number;
  hub(kind: Kind): KubeObject;
}

/** Answers at once; undefined where there is no such object. */
export type Find = (kind: Kind, namespace: string, name: string) => Found | undefined;

interface Shelf {
  get(namespace: string, name: string): Found | undefined;
}

/** Finds in the tables of a cache, each of which is looked up once. */
export function findIn(tableOf: (kind: Kind) => Shelf): Find {
  const tables = new WeakMap<Kind, Shelf>();
  return (kind, namespace, name) => {
    let table = tables.get(kind);
    if (!table) {
      table = tableOf(kind);
      tables.set(kind, table);
    }
    return table.get(namespace, name);
  };
}

export interface Wanted {
  readonly kind: Kind;
  readonly namespace: string;
  readonly name: string;
  /** Whether it is the object that is meant, and not a later one of its name. */
  readonly is: (object: KubeObject) => boolean;
}

/** How long what is being deleted still counts, in milliseconds: clocks of several servers differ. */
const LEEWAY = 60_000;

/** One object that has to be there. It looks into the object only when that has changed. */
export class Hold {
  readonly #wanted: Wanted;
  #revision = -1;
  #until = 0;

  constructor(wanted: Wanted) {
    this.#wanted = wanted;
  }

  isThere(find: Find, now: number): boolean {
    const { kind, namespace, name, is } = this.#wanted;
    const found = find(kind, namespace, name);
    if (!found) return false;
    if (found.revision !== this.#revision) {
      const object = found.hub(kind);
      const { deletionTimestamp } = object.metadata;
      this.#revision = found.revision;
      if (!is(object)) this.#until = 0;
      else this.#until = deletionTimestamp ? Date.parse(deletionTimestamp) + LEEWAY : Number.POSITIVE_INFINITY;
    }
    return now < this.#until;
  }
}
