import type { Logger } from '../base/log.ts';
import { type Change, StoreUnavailable, type Subscription, type Watcher } from './store.ts';

/** The source of past changes for a watch. */
export interface History {
  /**
   * Returns the changes after a revision, oldest first: complete revisions, about `limit` changes at most. Throws
   * StoreCompacted and StoreAhead.
   */
  read(after: number, limit: number): HistoryPage;
}

export interface HistoryPage {
  readonly changes: readonly Change[];
  /** All changes up to and including this revision are in the page, or before it. */
  readonly through: number;
  /** True when there are more changes. */
  readonly more: boolean;
}

/** Limit for the changes delivered in one turn of the event loop, so that a long history does not block it. */
const PAGE_CHANGES = 500;

interface Subscriber {
  readonly watcher: Watcher;
  /** The newest revision delivered so far. */
  position: number;
  /** True when the watch has read all of history, and gets changes from publish(). */
  live: boolean;
  over: boolean;
}

/** The watches of a store in this process, which read history first, then published changes. */
export class Watchers {
  readonly #subscribers = new Set<Subscriber>();
  #closed = false;

  constructor(
    private readonly history: History,
    private readonly log: Logger,
  ) {}

  watch(after: number, watcher: Watcher): Subscription {
    const subscriber: Subscriber = { watcher, position: after, live: false, over: false };
    this.#subscribers.add(subscriber);
    queueMicrotask(() => {
      if (this.#closed) this.#end(subscriber, new StoreUnavailable('the store is closed'));
      else this.#catchUp(subscriber);
    });
    return {
      stop: () => {
        subscriber.over = true;
        this.#subscribers.delete(subscriber);
      },
    };
  }

  /** Delivers changes to the watchers: complete revisions in order, which history.read() can already see. */
  publish(changes: readonly Change[]): void {
    const last = changes.at(-1)?.revision;
    if (last === undefined) return;
    for (const subscriber of [...this.#subscribers]) {
      if (!subscriber.live || subscriber.position >= last) continue;
      const { position } = subscriber;
      const first = changes[0]?.revision ?? 0;
      const news = first > position ? changes : changes.filter((change) => change.revision > position);
      subscriber.position = last;
      this.#deliver(subscriber, news);
    }
  }

  close(): void {
    this.#closed = true;
    for (const subscriber of [...this.#subscribers]) this.#end(subscriber, undefined);
  }

  #catchUp(subscriber: Subscriber): void {
    if (subscriber.over) return;
    let page: HistoryPage;
    try {
      page = this.history.read(subscriber.position, PAGE_CHANGES);
    } catch (error) {
      this.#end(subscriber, error as Error);
      return;
    }
    subscriber.position = page.through;
    // Changes published from here on are newer than the page, so none is missed.
    subscriber.live = !page.more;
    if (page.changes.length > 0) this.#deliver(subscriber, page.changes);
    if (page.more) setImmediate(() => this.#catchUp(subscriber));
    else if ((page.changes.at(-1)?.revision ?? 0) < page.through && !subscriber.over) {
      subscriber.watcher.progress?.(page.through);
    }
  }

  #deliver(subscriber: Subscriber, changes: readonly Change[]): void {
    if (subscriber.over) return;
    const { prefix } = subscriber.watcher;
    const wanted = prefix ? changes.filter(({ key }) => key.startsWith(prefix)) : changes;
    if (wanted.length === 0) return;
    try {
      subscriber.watcher.changes(wanted);
    } catch (error) {
      this.log.error('a watcher threw an error and is closed', { error });
      this.#end(subscriber, error as Error);
    }
  }

  #end(subscriber: Subscriber, error: Error | undefined): void {
    if (subscriber.over) return;
    subscriber.over = true;
    this.#subscribers.delete(subscriber);
    subscriber.watcher.closed(error);
  }
}
