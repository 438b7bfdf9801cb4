import type { Logger } from '../../base/log.ts';
import type { Clock, Timer } from '../../base/time/clock.ts';
import { isFull, type Reserve } from '../embedded/commit/reserve.ts';
import { type Change, type Store, StoreCompacted, StoreFull, StoreUnavailable, type Subscription } from '../store.ts';
import type { Moment } from './archive.ts';
import type { ArchiveDatabase } from './database.ts';
import { recordPresent } from './difference.ts';
import type { ArchiveState } from './layout.ts';
import { PendingChanges } from './pending.ts';
import type { Retention } from './retention.ts';

export interface RecorderOptions {
  readonly store: Pick<Store, 'revision' | 'list' | 'watch'>;
  readonly database: ArchiveDatabase;
  readonly reserve: Reserve;
  readonly retention: Retention;
  readonly clock: Clock;
  readonly log: Logger;
  readonly begin?: Moment | undefined;
  /** Reports whether the changes of a key are recorded. */
  covers(key: string): boolean;
}

/** Delay from a change until it is written, with everything that has changed until then. */
const WRITE_DELAY_MS = 1_000;
/** Changes that are written at once: more would keep the event loop for too long. */
const MAX_PENDING = 512;
const MAX_PENDING_BYTES = 4 * 2 ** 20;
/** Changes in memory during a write, beyond which the watch is ended and begun again after it. */
const MAX_BACKLOG_BYTES = 64 * 2 ** 20;
/** Age of the written position, beyond which changes that are not recorded move it as well. */
const MAX_POSITION_AGE_MS = 60_000;
const RETRY_MS = 5_000;
/** How long a reader waits for a revision. */
const MAX_WAIT_MS = 10_000;

/** Pages that a write may need: for each version, and for everything else. */
const PAGES_PER_VERSION = 6;
const PAGES_PER_REMOVAL = 3;
const PAGES_PER_WRITE = 64;
const PAGE_BYTES = 4096;

interface Waiter {
  readonly revision: number;
  done(): void;
  failed(error: Error): void;
}

/** Follows a store, and writes what has changed, together with the position in the store that it goes on from. */
export class Recorder {
  readonly #options: RecorderOptions;
  readonly #pending: PendingChanges;
  #subscription: Subscription | undefined;
  /** The newest revision that the watch has delivered, and when it was. */
  #received = 0;
  #receivedTime = 0;
  #timer: Timer | undefined;
  #retry: Timer | undefined;
  #work: Promise<void> | undefined;
  #waiters: Waiter[] = [];
  #problem: Error | undefined;
  #isClosed = false;
  readonly #closing = new AbortController();

  constructor(options: RecorderOptions) {
    this.#options = options;
    this.#pending = new PendingChanges();
  }

  /** The newest revision up to which everything is recorded, and when that was known. */
  get newest(): { readonly revision: number; readonly time: number } {
    const { position, positionTime } = this.#options.database.state;
    const isLevel = this.#pending.isEmpty && !this.#work && this.#received > position;
    return isLevel
      ? { revision: this.#received, time: this.#receivedTime }
      : { revision: position, time: positionTime };
  }

  /** Begins to follow the store, in the background. */
  begin(): void {
    this.#start().catch((error: unknown) => this.#failed(error));
  }

  async #start(): Promise<void> {
    const { database } = this.#options;
    if (!database.state.isComplete) await this.#recordPresent();
    this.#follow();
  }

  /** Resolves when everything up to a revision is on disk. */
  reached(revision: number): Promise<void> {
    if (revision <= this.newest.revision) return Promise.resolve();
    if (this.#isClosed) return Promise.reject(new StoreUnavailable('the archive is closed'));
    if (this.#problem) return Promise.reject(new StoreUnavailable('history is not recorded', { cause: this.#problem }));
    return new Promise((resolve, reject) => {
      const timer = this.#options.clock.timer(MAX_WAIT_MS, () => {
        this.#waiters = this.#waiters.filter((each) => each !== waiter);
        reject(new StoreUnavailable(`history is behind: it has not reached revision ${revision}`));
      });
      const end = (settle: () => void) => () => {
        timer.cancel();
        settle();
      };
      const waiter: Waiter = { revision, done: end(resolve), failed: (error) => end(() => reject(error))() };
      this.#waiters.push(waiter);
      this.#hurry();
    });
  }

  /** Runs a task while nothing else is written. */
  async exclusively<T>(task: () => Promise<T>): Promise<T> {
    while (this.#work) await this.#work;
    const done = task();
    this.#work = done.then(
      () => this.#written(),
      () => this.#written(),
    );
    return done;
  }

  /** Forgets which status changes may replace each other. */
  forgetRecent(): void {
    this.#pending.forgetRecent();
  }

  /** Writes what is left, and ends. */
  async close(): Promise<void> {
    this.#closing.abort(new StoreUnavailable('the archive is closed'));
    this.#subscription?.stop();
    this.#timer?.cancel();
    this.#retry?.cancel();
    while (this.#work) await this.#work;
    if (!this.#problem && this.#options.database.state.isComplete && this.#received > 0) {
      await this.#write().catch((error: unknown) => this.#options.log.warn('history could not be written', { error }));
    }
    this.#isClosed = true;
    this.#settle();
  }

  #follow(): void {
    const { store, database, clock } = this.#options;
    if (this.#closing.signal.aborted) return;
    this.#received = database.state.position;
    this.#receivedTime = database.state.positionTime;
    this.#subscription = store.watch(this.#received, {
      changes: (batch) => this.#receive(batch),
      progress: (revision) => {
        this.#receivedTime = Math.max(this.#receivedTime, clock.now());
        this.#advance(revision);
      },
      closed: (error) => this.#lost(error),
    });
  }

  #receive(batch: readonly Change[]): void {
    const { covers, clock } = this.#options;
    const now = clock.now();
    for (const change of batch) {
      // Times do not run backwards, whichever server has read its clock.
      this.#receivedTime = Math.max(this.#receivedTime, Math.min(change.time ?? now, now));
      if (covers(change.key)) this.#pending.add(change, this.#receivedTime);
    }
    this.#advance(batch.at(-1)!.revision);
    if (this.#pending.bytes > MAX_BACKLOG_BYTES) this.#interrupt();
  }

  #advance(revision: number): void {
    this.#received = Math.max(this.#received, revision);
    const { database } = this.#options;
    if (this.#pending.isEmpty) {
      if (this.#receivedTime - database.state.positionTime > MAX_POSITION_AGE_MS) this.#run();
      this.#settle();
      return;
    }
    if (this.#pending.count >= MAX_PENDING || this.#pending.bytes >= MAX_PENDING_BYTES) this.#run();
    else if (!this.#hurry()) this.#timer ??= this.#options.clock.timer(WRITE_DELAY_MS, () => this.#run());
  }

  /** Writes at once when a reader waits for what has been received. */
  #hurry(): boolean {
    const isAwaited = this.#waiters.some(({ revision }) => revision <= this.#received);
    if (isAwaited) this.#run();
    return isAwaited;
  }

  #run(): void {
    if (this.#work || this.#isClosed) return;
    this.#work = this.#write().then(
      () => this.#written(),
      (error: unknown) => this.#failed(error),
    );
  }

  async #write(): Promise<void> {
    this.#timer?.cancel();
    this.#timer = undefined;
    const { database, reserve, retention } = this.#options;
    const batch = this.#pending.take();
    const [position, positionTime] = [this.#received, this.#receivedTime];
    const trim = retention.plan(batch.versions.length);
    const state: ArchiveState = {
      ...database.state,
      position,
      positionTime,
      oldest: trim.oldest,
      oldestTime: trim.oldestTime,
    };
    const removed = [...batch.removed, ...trim.removed];
    await reserve.take(pagesFor(batch.versions, removed.length));
    await database.write({ ...batch, removed, originsBefore: trim.originsBefore, state });
  }

  #written(): void {
    this.#work = undefined;
    this.#problem = undefined;
    this.#settle();
    if (!this.#pending.isEmpty && !this.#isClosed) this.#advance(this.#received);
  }

  /** Nothing was written: goes on from the written position, later. */
  #failed(error: unknown): void {
    const { log } = this.#options;
    this.#work = undefined;
    if (!this.#problem && !this.#closing.signal.aborted)
      log.error('history could not be written, trying again', { error: storeError(error) });
    this.#problem = error as Error;
    for (const { failed } of this.#waiters.splice(0))
      failed(new StoreUnavailable('history is not recorded', { cause: error }));
    this.#restart();
  }

  /** Ends a watch that delivers faster than can be written. The store keeps the rest. */
  #interrupt(): void {
    this.#subscription?.stop();
    const goOn = async () => {
      while (!this.#pending.isEmpty || this.#work) {
        this.#run();
        await this.#work;
      }
      this.#follow();
    };
    goOn().catch(() => undefined);
  }

  #lost(error: Error | undefined): void {
    const { log } = this.#options;
    // Without an error, the store was closed.
    if (!error || this.#closing.signal.aborted) return;
    if (!(error instanceof StoreCompacted)) {
      log.warn('the watch of the store for its history was interrupted and is started again', { error });
      this.#restart();
      return;
    }
    log.warn('history has a gap: the store has discarded changes that were not recorded yet', {
      recorded: this.#received,
      oldest: error.oldest,
    });
    this.#recordPresent().then(
      () => this.#follow(),
      (failure: unknown) => this.#failed(failure),
    );
  }

  #restart(): void {
    this.#subscription?.stop();
    this.#pending.clear();
    this.#received = this.#options.database.state.position;
    if (this.#closing.signal.aborted) return;
    this.#retry?.cancel();
    this.#retry = this.#options.clock.timer(RETRY_MS, () => this.begin());
  }

  /** Records the difference between the recorded state and the present. */
  async #recordPresent(): Promise<void> {
    while (this.#work) await this.#work;
    if (!this.#pending.isEmpty) await this.#write();
    this.#pending.forgetRecent();
    const work = recordPresent(this.#options, this.#closing.signal);
    this.#work = work.then(
      () => this.#written(),
      () => this.#written(),
    );
    await work;
  }

  #settle(): void {
    const { revision: newest } = this.newest;
    const waiting = this.#waiters;
    if (waiting.length === 0) return;
    this.#waiters = [];
    for (const waiter of waiting) {
      if (waiter.revision <= newest) waiter.done();
      else if (this.#isClosed) waiter.failed(new StoreUnavailable('the archive is closed'));
      else this.#waiters.push(waiter);
    }
  }
}

function pagesFor(
  versions: readonly { readonly version: { readonly value: Buffer | null } }[],
  removals: number,
): number {
  const bytes = versions.reduce((sum, { version }) => sum + (version.value?.length ?? 0), 0);
  return (
    Math.ceil(bytes / PAGE_BYTES) + versions.length * PAGES_PER_VERSION + removals * PAGES_PER_REMOVAL + PAGES_PER_WRITE
  );
}

function storeError(cause: unknown): unknown {
  return isFull(cause) ? new StoreFull('the disk is full', { cause }) : cause;
}
