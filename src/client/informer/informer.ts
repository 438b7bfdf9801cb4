/** A cache of one kind that follows the server, tells handlers what changes, and lets others wait for a version. */
import type { Logger } from '../../base/log.ts';
import type { KubeObject } from '../../kinds/kind.ts';
import type { ObjectList } from '../resource.ts';
import type { WatchEvent } from '../watch.ts';
import { type Change, keyOf, type Lister, ObjectCache } from './object-cache.ts';
import { type ReflectorOptions, reflect, type Source } from './reflector.ts';

/** Called after the cache has changed, in the order of changes. It must not throw. */
export type ChangeHandler<T> = (change: Change<T>) => void;

interface Waiter {
  readonly isDone: () => boolean;
  readonly done: () => void;
  /** A list that was asked for after the wait began shows everything that was written before it. */
  listIsEnough: boolean;
  readonly byVersion: boolean;
}

export class Informer<T extends KubeObject> {
  readonly #cache = new ObjectCache<T>();
  readonly #handlers = new Set<ChangeHandler<T>>();
  readonly #waiters = new Set<Waiter>();
  readonly #log: Logger;
  #version = 0;
  #markSynced = () => {};

  /** Resolves when the first list is in the cache and handlers have seen it. Stays open when it is stopped before. */
  readonly synced = new Promise<void>((resolve) => {
    this.#markSynced = resolve;
  });

  constructor(log: Logger) {
    this.#log = log;
  }

  get lister(): Lister<T> {
    return this.#cache;
  }

  /** Tells the handler what is there already, as additions, and every change from now on. Returns how to leave. */
  onChange(handler: ChangeHandler<T>): () => void {
    for (const object of this.#cache.list()) this.#tell(handler, { type: 'add', object });
    this.#handlers.add(handler);
    return () => this.#handlers.delete(handler);
  }

  /** Whether the cache shows a write that got this version. */
  shows(version: number): boolean {
    return this.#version >= version;
  }

  /** Resolves when the cache shows a write that got this version. */
  waitFor(resourceVersion: string | number, signal?: AbortSignal): Promise<void> {
    const version = Number(resourceVersion);
    return this.#wait(() => this.shows(version), signal, true);
  }

  /** Resolves when the condition holds; it is looked at after every change. */
  until(condition: (lister: Lister<T>) => boolean, signal?: AbortSignal): Promise<void> {
    return this.#wait(() => condition(this.#cache), signal, false);
  }

  /** Follows the source until the signal is aborted. */
  run(source: Source<T>, options: ReflectorOptions): Promise<void> {
    const sink = {
      listing: () => {
        for (const waiter of this.#waiters) waiter.listIsEnough = waiter.byVersion;
      },
      replace: (list: ObjectList<T>) => this.#replace(list),
      apply: (events: readonly WatchEvent<T>[]) => this.#apply(events),
    };
    return reflect(source, sink, options);
  }

  #replace({ items, metadata }: ObjectList<T>): void {
    for (const change of this.#cache.replace(items)) this.#tellAll(change);
    this.#version = Number(metadata.resourceVersion);
    this.#markSynced();
    for (const waiter of this.#waiters) if (waiter.listIsEnough) waiter.done();
    this.#wake();
  }

  #apply(events: readonly WatchEvent<T>[]): void {
    for (const event of events) {
      switch (event.type) {
        case 'ADDED':
        case 'MODIFIED':
          for (const change of this.#cache.put(event.object)) this.#tellAll(change);
          break;
        case 'DELETED':
          for (const change of this.#cache.remove(keyOf(event.object), event.object)) this.#tellAll(change);
          break;
        case 'BOOKMARK':
          break;
      }
      this.#version = Math.max(this.#version, Number(event.object.metadata.resourceVersion));
    }
    this.#wake();
  }

  #tellAll(change: Change<T>): void {
    for (const handler of [...this.#handlers]) this.#tell(handler, change);
  }

  #tell(handler: ChangeHandler<T>, change: Change<T>): void {
    try {
      handler(change);
    } catch (error) {
      this.#log.error('a handler of changes failed', { key: keyOf(change.object), error });
    }
  }

  #wait(isDone: () => boolean, signal: AbortSignal | undefined, byVersion: boolean): Promise<void> {
    if (isDone()) return Promise.resolve();
    return new Promise((resolve, reject) => {
      if (signal?.aborted) {
        reject(signal.reason);
        return;
      }
      const finish = (settle: () => void) => {
        this.#waiters.delete(waiter);
        signal?.removeEventListener('abort', onAbort);
        settle();
      };
      const onAbort = () => finish(() => reject(signal?.reason));
      const waiter: Waiter = { isDone, byVersion, listIsEnough: false, done: () => finish(resolve) };
      this.#waiters.add(waiter);
      signal?.addEventListener('abort', onAbort, { once: true });
    });
  }

  #wake(): void {
    for (const waiter of [...this.#waiters]) if (waiter.isDone()) waiter.done();
  }
}
