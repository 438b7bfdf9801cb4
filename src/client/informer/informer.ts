/** A cache of one kind that follows the server, notifies handlers of changes, and lets callers wait for a version. */

import type { TurnBudget } from '../../base/event-loop/turn-budget.ts';
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
  /** True when a list that starts after the wait began ends the wait, because it shows all earlier writes. */
  isSatisfiedByList: boolean;
  readonly byVersion: boolean;
}

export class Informer<T extends KubeObject> {
  readonly #cache = new ObjectCache<T>();
  readonly #handlers = new Set<ChangeHandler<T>>();
  readonly #waiters = new Set<Waiter>();
  #version = 0;
  #markSynced = () => {};

  /** Resolves when the cache has the first list and handlers have seen it; never when it is stopped before. */
  readonly synced = new Promise<void>((resolve) => {
    this.#markSynced = resolve;
  });

  /** `budget`: limits the time of change handlers in a turn of the event loop; may be shared. */
  constructor(
    private readonly log: Logger,
    private readonly budget: TurnBudget,
  ) {}

  get lister(): Lister<T> {
    return this.#cache;
  }

  /** Calls the handler with existing objects, as additions, and with every change. Returns how to unsubscribe. */
  onChange(handler: ChangeHandler<T>): () => void {
    for (const object of this.#cache.list()) this.#notify(handler, { type: 'add', object });
    this.#handlers.add(handler);
    return () => this.#handlers.delete(handler);
  }

  /** Reports whether the cache shows the write with this version. */
  shows(version: number): boolean {
    return this.#version >= version;
  }

  /** Resolves when the cache shows the write with this version. */
  waitFor(resourceVersion: string | number, signal?: AbortSignal): Promise<void> {
    const version = Number(resourceVersion);
    return this.#wait(() => this.shows(version), signal, true);
  }

  /** Resolves when the condition holds, which is checked after every change. */
  until(condition: (lister: Lister<T>) => boolean, signal?: AbortSignal): Promise<void> {
    return this.#wait(() => condition(this.#cache), signal, false);
  }

  /** Follows the source until the signal is aborted. */
  run(source: Source<T>, options: ReflectorOptions): Promise<void> {
    const sink = {
      listing: () => {
        for (const waiter of this.#waiters) waiter.isSatisfiedByList = waiter.byVersion;
      },
      replace: (list: ObjectList<T>) => this.#replace(list),
      apply: (events: readonly WatchEvent<T>[]) => this.#apply(events),
    };
    return reflect(source, sink, options);
  }

  /** Replaces the cache with a list, in several turns of the event loop. The version is set when it is complete. */
  async #replace({ items, metadata }: ObjectList<T>): Promise<void> {
    for (const change of this.#cache.replace(items)) {
      this.#notifyAll(change);
      if (this.budget.isSpent()) await this.budget.nextTurn();
    }
    this.#version = Number(metadata.resourceVersion);
    this.#markSynced();
    for (const waiter of this.#waiters) if (waiter.isSatisfiedByList) waiter.done();
    this.#wake();
  }

  async #apply(events: readonly WatchEvent<T>[]): Promise<void> {
    for (const event of events) {
      if (this.budget.isSpent()) await this.budget.nextTurn();
      switch (event.type) {
        case 'ADDED':
        case 'MODIFIED':
          for (const change of this.#cache.put(event.object)) this.#notifyAll(change);
          break;
        case 'DELETED':
          for (const change of this.#cache.remove(keyOf(event.object), event.object)) this.#notifyAll(change);
          break;
        case 'BOOKMARK':
          break;
      }
      this.#version = Math.max(this.#version, Number(event.object.metadata.resourceVersion));
    }
    this.#wake();
  }

  #notifyAll(change: Change<T>): void {
    for (const handler of [...this.#handlers]) this.#notify(handler, change);
  }

  #notify(handler: ChangeHandler<T>, change: Change<T>): void {
    try {
      handler(change);
    } catch (error) {
      this.log.error('a change handler failed', { key: keyOf(change.object), error });
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
      const waiter: Waiter = { isDone, byVersion, isSatisfiedByList: false, done: () => finish(resolve) };
      this.#waiters.add(waiter);
      signal?.addEventListener('abort', onAbort, { once: true });
    });
  }

  #wake(): void {
    for (const waiter of [...this.#waiters]) if (waiter.isDone()) waiter.done();
  }
}
