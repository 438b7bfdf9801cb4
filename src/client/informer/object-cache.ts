/** The cached objects of an informer, with indexes. Returns the changes; repeated events change nothing. */

import type { DeepReadonly } from '../../api/object-types.ts';
import type { KubeObject } from '../../kinds/kind.ts';

/** A change of an object. A deleted object has its last known state. */
export type Change<T> =
  | { readonly type: 'add'; readonly object: DeepReadonly<T> }
  | { readonly type: 'update'; readonly object: DeepReadonly<T>; readonly old: DeepReadonly<T> }
  | { readonly type: 'delete'; readonly object: DeepReadonly<T> };

/** Reads the cache of an informer. Results are shared and must not be modified. */
export interface Lister<T> {
  /** Returns an object; cluster-scoped ones have no namespace. */
  get(name: string, namespace?: string): DeepReadonly<T> | undefined;
  /** Lists objects in one namespace, or in all. */
  list(namespace?: string): readonly DeepReadonly<T>[];
  /** Lists objects with this UID among their owners. */
  ownedBy(uid: string): readonly DeepReadonly<T>[];
  /** Lists objects whose controlling owner has this UID. */
  controlledBy(uid: string): readonly DeepReadonly<T>[];
  /** Lists objects of the namespace without a controlling owner. */
  orphans(namespace: string): readonly DeepReadonly<T>[];
  /**
   * Lists objects for which the index function returns the value. The function identifies the index, which every change
   * updates: it must be a module constant, never a closure made for one call.
   */
  by(index: IndexFunction<T>, value: string): readonly DeepReadonly<T>[];
}

/** Returns the values under which an object is found. It must depend on the object alone. */
export type IndexFunction<T> = (object: DeepReadonly<T>) => readonly string[];

/** Returns `namespace/name`, or the name of a cluster-scoped object. */
export function keyOf(object: { readonly metadata: { readonly namespace?: string; readonly name?: string } }): string {
  const { namespace, name = '' } = object.metadata;
  return namespace ? `${namespace}/${name}` : name;
}

type Metadata = DeepReadonly<KubeObject>;

const byNamespace = ({ metadata }: Metadata) => [metadata.namespace ?? ''];

const byOwner = ({ metadata }: Metadata) => metadata.ownerReferences?.map(({ uid }) => uid) ?? NONE;

const byController = (object: Metadata) => {
  const owner = controllerOf(object);
  return owner ? [owner.uid] : NONE;
};

const byOrphanage = (object: Metadata) => (controllerOf(object) ? NONE : [object.metadata.namespace ?? '']);

const NONE: readonly string[] = [];

/** Returns the controlling owner; there is at most one. */
export function controllerOf({ metadata }: Pick<Metadata, 'metadata'>) {
  return metadata.ownerReferences?.find(({ controller }) => controller);
}

type Index = Map<string, Set<string>>;

export class ObjectCache<T extends KubeObject> implements Lister<T> {
  readonly #objects = new Map<string, DeepReadonly<T>>();
  readonly #indexes = new Map<IndexFunction<T>, Index>();

  get(name: string, namespace?: string): DeepReadonly<T> | undefined {
    return this.#objects.get(namespace ? `${namespace}/${name}` : name);
  }

  list(namespace?: string): readonly DeepReadonly<T>[] {
    return namespace === undefined ? [...this.#objects.values()] : this.by(byNamespace as IndexFunction<T>, namespace);
  }

  ownedBy(uid: string): readonly DeepReadonly<T>[] {
    return this.by(byOwner as IndexFunction<T>, uid);
  }

  controlledBy(uid: string): readonly DeepReadonly<T>[] {
    return this.by(byController as IndexFunction<T>, uid);
  }

  orphans(namespace: string): readonly DeepReadonly<T>[] {
    return this.by(byOrphanage as IndexFunction<T>, namespace);
  }

  by(valuesOf: IndexFunction<T>, value: string): readonly DeepReadonly<T>[] {
    const keys = (this.#indexes.get(valuesOf) ?? this.#addIndex(valuesOf)).get(value);
    const out: DeepReadonly<T>[] = [];
    if (keys) for (const key of keys) out.push(this.#objects.get(key) as DeepReadonly<T>);
    return out;
  }

  /** Adds or updates an object. Yields each change after it is applied. */
  *put(object: DeepReadonly<T>): Iterable<Change<T>> {
    const key = keyOf(object);
    const old = this.#objects.get(key);
    if (!old) {
      this.#set(key, undefined, object);
      yield { type: 'add', object };
    } else if (old.metadata.uid !== object.metadata.uid) {
      this.#set(key, old, undefined);
      yield { type: 'delete', object: old };
      this.#set(key, undefined, object);
      yield { type: 'add', object };
    } else if (old.metadata.resourceVersion !== object.metadata.resourceVersion) {
      this.#set(key, old, object);
      yield { type: 'update', object, old };
    }
  }

  /** Removes an object; `last` is its final state, if known. */
  *remove(key: string, last?: DeepReadonly<T>): Iterable<Change<T>> {
    const old = this.#objects.get(key);
    if (!old) return;
    this.#set(key, old, undefined);
    yield { type: 'delete', object: last ?? old };
  }

  /** Replaces all objects. Yields missed events as changes. */
  *replace(objects: readonly DeepReadonly<T>[]): Iterable<Change<T>> {
    const present = new Set(objects.map(keyOf));
    for (const key of [...this.#objects.keys()]) if (!present.has(key)) yield* this.remove(key);
    for (const object of objects) yield* this.put(object);
  }

  #addIndex(valuesOf: IndexFunction<T>): Index {
    const index: Index = new Map();
    this.#indexes.set(valuesOf, index);
    for (const [key, object] of this.#objects) enter(index, key, valuesOf(object));
    return index;
  }

  #set(key: string, old: DeepReadonly<T> | undefined, object: DeepReadonly<T> | undefined): void {
    for (const [valuesOf, index] of this.#indexes) {
      const before = old ? valuesOf(old) : NONE;
      const after = object ? valuesOf(object) : NONE;
      if (isSame(before, after)) continue;
      leave(index, key, before);
      enter(index, key, after);
    }
    if (object) this.#objects.set(key, object);
    else this.#objects.delete(key);
  }
}

function isSame(before: readonly string[], after: readonly string[]): boolean {
  return before.length === after.length && before.every((value, position) => value === after[position]);
}

function enter(index: Index, key: string, values: readonly string[]): void {
  for (const value of values) {
    const keys = index.get(value);
    if (keys) keys.add(key);
    else index.set(value, new Set([key]));
  }
}

function leave(index: Index, key: string, values: readonly string[]): void {
  for (const value of values) {
    const keys = index.get(value);
    keys?.delete(key);
    if (keys?.size === 0) index.delete(value);
  }
}
