/**
 * The objects of one kind as an informer knows them, with indexes. It takes lists and events, and tells what each has
 * changed; repeated events change nothing.
 */
import type { KubeObject } from '../kinds/kind.ts';
import type { DeepReadonly } from './object-types.ts';

/** What happened to an object. A deleted object is the last state that was known. */
export type Change<T> =
  | { readonly type: 'add'; readonly object: DeepReadonly<T> }
  | { readonly type: 'update'; readonly object: DeepReadonly<T>; readonly old: DeepReadonly<T> }
  | { readonly type: 'delete'; readonly object: DeepReadonly<T> };

/** Reads what an informer knows. Results are shared: they must not be changed. */
export interface Lister<T> {
  /** An object of a cluster-wide kind has no namespace. */
  get(name: string, namespace?: string): DeepReadonly<T> | undefined;
  /** In one namespace, or all. */
  list(namespace?: string): readonly DeepReadonly<T>[];
  /** Objects that name this uid among their owners. */
  ownedBy(uid: string): readonly DeepReadonly<T>[];
  /** Objects for which the index function of this name gave the value. */
  byIndex(index: string, value: string): readonly DeepReadonly<T>[];
}

/** The values under which an object is found. */
export type IndexFunction<T> = (object: DeepReadonly<T>) => readonly string[];

/** `namespace/name`, or the name of a cluster-wide object. */
export function keyOf(object: { readonly metadata: { readonly namespace?: string; readonly name?: string } }): string {
  const { namespace, name = '' } = object.metadata;
  return namespace ? `${namespace}/${name}` : name;
}

const BY_NAMESPACE = 'namespace';
const BY_OWNER = 'owner';

interface Index<T> {
  readonly valuesOf: IndexFunction<T>;
  readonly keys: Map<string, Set<string>>;
}

export class ObjectCache<T extends KubeObject> implements Lister<T> {
  readonly #objects = new Map<string, DeepReadonly<T>>();
  readonly #indexes = new Map<string, Index<T>>();

  constructor() {
    this.addIndex(BY_NAMESPACE, (object) => [object.metadata.namespace ?? '']);
    this.addIndex(BY_OWNER, (object) => (object.metadata.ownerReferences ?? []).map(({ uid }) => uid));
  }

  addIndex(name: string, valuesOf: IndexFunction<T>): void {
    if (this.#indexes.has(name)) throw new Error(`there is an index ${name} already`);
    const index: Index<T> = { valuesOf, keys: new Map() };
    this.#indexes.set(name, index);
    for (const [key, object] of this.#objects) enter(index, key, object);
  }

  get(name: string, namespace?: string): DeepReadonly<T> | undefined {
    return this.#objects.get(namespace ? `${namespace}/${name}` : name);
  }

  list(namespace?: string): readonly DeepReadonly<T>[] {
    return namespace === undefined ? [...this.#objects.values()] : this.byIndex(BY_NAMESPACE, namespace);
  }

  ownedBy(uid: string): readonly DeepReadonly<T>[] {
    return this.byIndex(BY_OWNER, uid);
  }

  byIndex(name: string, value: string): readonly DeepReadonly<T>[] {
    const index = this.#indexes.get(name);
    if (!index) throw new Error(`there is no index ${name}`);
    return [...(index.keys.get(value) ?? [])].map((key) => this.#objects.get(key) as DeepReadonly<T>);
  }

  /** An object that exists in this state. Yields each change after it was made. */
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

  /** An object that does not exist any more; `last` is what it was in the end, where that is known. */
  *remove(key: string, last?: DeepReadonly<T>): Iterable<Change<T>> {
    const old = this.#objects.get(key);
    if (!old) return;
    this.#set(key, old, undefined);
    yield { type: 'delete', object: last ?? old };
  }

  /** These exist and no others: what was missed becomes changes. */
  *replace(objects: readonly DeepReadonly<T>[]): Iterable<Change<T>> {
    const present = new Set(objects.map(keyOf));
    for (const key of [...this.#objects.keys()]) if (!present.has(key)) yield* this.remove(key);
    for (const object of objects) yield* this.put(object);
  }

  #set(key: string, old: DeepReadonly<T> | undefined, object: DeepReadonly<T> | undefined): void {
    for (const index of this.#indexes.values()) {
      if (old) leave(index, key, old);
      if (object) enter(index, key, object);
    }
    if (object) this.#objects.set(key, object);
    else this.#objects.delete(key);
  }
}

function enter<T>(index: Index<T>, key: string, object: DeepReadonly<T>): void {
  for (const value of index.valuesOf(object)) {
    const keys = index.keys.get(value);
    if (keys) keys.add(key);
    else index.keys.set(value, new Set([key]));
  }
}

function leave<T>(index: Index<T>, key: string, object: DeepReadonly<T>): void {
  for (const value of index.valuesOf(object)) {
    const keys = index.keys.get(value);
    keys?.delete(key);
    if (keys?.size === 0) index.keys.delete(value);
  }
}
