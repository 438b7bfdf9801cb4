import { type Clock, sleep } from '../../base/time/clock.ts';
import {
  type ListOptions,
  type Row,
  type Rows,
  type Store,
  StorePaused,
  type Subscription,
  type Watcher,
} from '../store.ts';

/** How long a write waits for the end of a pause. */
const MAX_WAIT_MS = 3_000;

/** How long a write is held back while a copy is behind. */
const MAX_HELD_BACK_MS = 1_000;

interface Pause {
  /** Resolves at the end of the pause. */
  readonly over: Promise<void>;
  end(): void;
}

/**
 * A store that another one can take the place of while it is used: a copy, with the same revisions. Writes wait in the meantime. Watches
 * go on where they are.
 */
export class MovableStore implements Store {
  readonly #clock: Clock;
  readonly #watches = new Set<MovableWatch>();
  #current: Store;
  #pause: Pause | undefined;
  #holdBack: (() => Promise<void> | undefined) | undefined;
  /** Commits in progress. */
  #commits = 0;
  #idle: (() => void) | undefined;
  /** The newest revision that callers have discarded history up to. */
  #compacted = 0;

  constructor(store: Store, clock: Clock) {
    this.#current = store;
    this.#clock = clock;
  }

  /** The store that is used now. */
  get current(): Store {
    return this.#current;
  }

  /** Lets each new commit wait for a moment while `wait` returns a promise, until the end of the next pause. */
  holdBack(wait: () => Promise<void> | undefined): void {
    this.#holdBack = wait;
  }

  /** Lets new commits wait. Resolves when those in progress have ended. */
  async pause(): Promise<void> {
    let end!: () => void;
    const over = new Promise<void>((resolve) => {
      end = resolve;
    });
    this.#pause = { over, end };
    if (this.#commits === 0) return;
    await new Promise<void>((resolve) => {
      this.#idle = resolve;
    });
  }

  /** Ends a pause: on the store as it is, or on another one that has the same content. */
  resume(next = this.#current): void {
    if (next !== this.#current) {
      this.#current = next;
      for (const watch of this.#watches) watch.follow(next);
    }
    this.#pause?.end();
    this.#pause = undefined;
    this.#holdBack = undefined;
  }

  revision(): number | Promise<number> {
    return this.#current.revision();
  }

  get(key: string): Promise<Row | undefined> {
    return this.#current.get(key);
  }

  list(prefix: string, options?: ListOptions): Promise<Rows> {
    return this.#current.list(prefix, options);
  }

  commit(...commit: Parameters<Store['commit']>): Promise<number> {
    if (this.#pause) return this.#afterPause(this.#pause, () => this.commit(...commit));
    const held = this.#holdBack?.();
    if (held) return this.#whenLevel(held).then(() => (this.#pause ? this.commit(...commit) : this.#commit(commit)));
    return this.#commit(commit);
  }

  #commit([writes, conditions, origin]: Parameters<Store['commit']>): Promise<number> {
    this.#commits++;
    const commit = this.#current.commit(writes, conditions, origin);
    commit.then(this.#ended, this.#ended);
    return commit;
  }

  watch(after: number, watcher: Watcher): Subscription {
    const watch = new MovableWatch(after, watcher, () => this.#watches.delete(watch));
    this.#watches.add(watch);
    watch.follow(this.#current);
    return { stop: () => watch.stop() };
  }

  /** The copy of a store has as much history as the store had when it was begun. */
  async compact(revision: number): Promise<void> {
    this.#compacted = Math.max(this.#compacted, revision);
    await this.#current.compact(revision);
  }

  /** The newest revision that history was discarded up to by callers; 0: none. */
  get compacted(): number {
    return this.#compacted;
  }

  abandon(): void {
    this.#current.abandon?.();
  }

  async close(): Promise<void> {
    this.resume();
    await this.#current.close();
  }

  readonly #ended = (): void => {
    this.#commits--;
    if (this.#commits > 0) return;
    this.#idle?.();
    this.#idle = undefined;
  };

  async #whenLevel(level: Promise<void>): Promise<void> {
    const waiting = new AbortController();
    const long = sleep(this.#clock, MAX_HELD_BACK_MS, waiting.signal);
    // A copy that fails holds nobody back.
    await Promise.race([level, long]).catch(() => undefined);
    long.catch(() => undefined);
    waiting.abort();
  }

  async #afterPause(pause: Pause, commit: () => Promise<number>): Promise<number> {
    const waiting = new AbortController();
    const tooLong = sleep(this.#clock, MAX_WAIT_MS, waiting.signal).then(() => {
      throw new StorePaused('the objects are being moved to another store, and writes wait for its end');
    });
    tooLong.catch(() => undefined); // The sleep is ended when the pause is.
    try {
      await Promise.race([pause.over, tooLong]);
    } finally {
      waiting.abort();
    }
    return commit();
  }
}

/** A watch that goes on with another store after the last revision that was delivered. */
class MovableWatch {
  readonly #watcher: Watcher;
  readonly #ended: () => void;
  #position: number;
  #subscription: Subscription | undefined;
  /** Distinguishes the present store from those before it. */
  #turn = 0;

  constructor(after: number, watcher: Watcher, ended: () => void) {
    this.#position = after;
    this.#watcher = watcher;
    this.#ended = ended;
  }

  follow(store: Store): void {
    this.#subscription?.stop();
    const turn = ++this.#turn;
    const { prefix } = this.#watcher;
    this.#subscription = store.watch(this.#position, {
      prefix,
      changes: (batch) => {
        if (turn !== this.#turn) return;
        this.#position = batch.at(-1)?.revision ?? this.#position;
        this.#watcher.changes(batch);
      },
      progress: (revision) => {
        if (turn !== this.#turn) return;
        this.#position = Math.max(this.#position, revision);
        this.#watcher.progress?.(revision);
      },
      closed: (error) => {
        if (turn !== this.#turn) return;
        this.#ended();
        this.#watcher.closed(error);
      },
    });
  }

  stop(): void {
    this.#turn++;
    this.#ended();
    this.#subscription?.stop();
  }
}
