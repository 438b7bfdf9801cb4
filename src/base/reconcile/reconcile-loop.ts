/**
 * The reconcile loop. It takes a key, waits until caches show what was written for it before, and calls `reconcile`. A
 * failure is logged, and the key is tried again with back-off. The loop knows neither objects nor where keys come from.
 */
import { setMaxListeners } from 'node:events';
import { getOrInsert } from '../collections/get-or-insert.ts';
import type { TurnBudget } from '../event-loop/turn-budget.ts';
import { type Clock, sleep } from '../time/clock.ts';
import type { Tools } from '../tools.ts';
import { WorkQueue, type WorkQueueOptions } from './work-queue.ts';

export interface ReconcileLoopOptions extends WorkQueueOptions, Pick<Tools, 'log'> {
  /**
   * Brings what the key stands for to its desired state, and is called again later when it rejects; an AggregateError
   * counts as its errors. `errors`: those of the last attempt, empty when it succeeded.
   */
  readonly reconcile: (key: string, errors: readonly Error[]) => Promise<void>;
  readonly failure: string;
  /** Reports errors that are logged for debugging only: usually, another writer was faster. */
  readonly isExpected?: (error: Error) => boolean;
  /** Called after a failure; not for a loop that ends. */
  readonly failed?: (key: string, errors: readonly Error[]) => void;
  /** Number of keys that are processed concurrently. Default: 1. */
  readonly workers?: number;
  /** Timeout for caches to show writes. A cache of a selection may never show one. Default: 30 seconds. */
  readonly visibilityMs?: number;
  /** Called before a key is reconciled, to divide work into turns of the event loop. */
  readonly turns?: Pick<TurnBudget, 'pause'>;
}

const VISIBILITY_TIMEOUT_MS = 30_000;

/** Number of errors that are kept for the next attempt, and number that are logged: the rest look alike. */
const MAX_KEPT_ERRORS = 100;
const MAX_LOGGED_ERRORS = 10;
/** Limit for a message, which may quote a client's text. */
const MAX_LOGGED_ERROR_LENGTH = 1000;

export class ReconcileLoop {
  readonly #queue: WorkQueue;
  readonly #ownWrites: OwnWrites;
  readonly #errors = new Map<string, readonly Error[]>();

  constructor(private readonly options: ReconcileLoopOptions) {
    this.#queue = new WorkQueue(options);
    this.#ownWrites = new OwnWrites(options.clock, options.visibilityMs ?? VISIBILITY_TIMEOUT_MS);
  }

  /** Something has changed: the key is reconciled, once, however often it is added before. */
  add(key: string): void {
    this.#queue.add(key);
  }

  /** Adds the key `delay` milliseconds from now. If a delay is pending, the earlier one wins. */
  addAfter(key: string, delay: number): void {
    this.#queue.addAfter(key, delay);
  }

  /** Notes a write for the key: it is reconciled again only when the cache shows the write. */
  wrote(key: string, write: OwnWrite): void {
    this.#ownWrites.add(key, write);
  }

  /** Resolves when every key that was added has been tried. */
  idle(): Promise<void> {
    return this.#queue.idle();
  }

  /** Runs until the signal is aborted; resolves when nothing is in progress. */
  run(signal: AbortSignal): Promise<void> {
    return this.#queue.run((key) => this.#attempt(key, signal), { workers: this.options.workers ?? 1, signal });
  }

  async #attempt(key: string, signal: AbortSignal): Promise<void> {
    const { log, turns, reconcile } = this.options;
    try {
      const isSeen = await this.#ownWrites.seen(key, signal);
      await turns?.pause();
      if (signal.aborted) return;
      if (!isSeen) log.warn('the cache does not show own writes in time', { key });
      this.#queue.markSeen(key);
      await reconcile(key, this.#errors.get(key) ?? []);
      this.#errors.delete(key);
      this.#queue.forget(key);
    } catch (error) {
      if (!signal.aborted) this.#failed(key, error);
    }
  }

  #failed(key: string, error: unknown): void {
    const { log, failure, isExpected = () => false, failed } = this.options;
    const errors = (error instanceof AggregateError ? error.errors : [error]) as Error[];
    this.#errors.set(key, errors.slice(0, MAX_KEPT_ERRORS));
    const logged = errors.slice(0, MAX_LOGGED_ERRORS).map((each) => String(each).slice(0, MAX_LOGGED_ERROR_LENGTH));
    const fields = { key, errors: logged, failures: this.#queue.failures(key) + 1 };
    if (errors.every(isExpected)) log.debug(failure, fields);
    else log.warn(failure, fields);
    failed?.(key, errors);
    this.#queue.retry(key);
  }
}

/** A cache that shows writes some time after they were made, such as an informer. */
export interface WriteCache<View = any> {
  readonly lister: View;
  shows(version: number): boolean;
  waitFor(version: number, signal: AbortSignal): Promise<void>;
  until(condition: (view: View) => boolean, signal: AbortSignal): Promise<void>;
}

/** A write: the version that it resulted in, or, as for a deletion, how to see it. */
type OwnWrite =
  | { readonly cache: WriteCache; readonly version: number }
  | { readonly cache: WriteCache; readonly isShown: (view: any) => boolean };

/** The writes for one key: the newest version in each cache, and conditions. */
interface Pending {
  readonly versions: Map<WriteCache, number>;
  readonly conditions: Map<WriteCache, ((view: unknown) => boolean)[]>;
}

/** The writes that caches do not show yet. Work that did not see them would do everything twice. */
class OwnWrites {
  readonly #pending = new Map<string, Pending>();

  constructor(
    readonly clock: Clock,
    readonly timeoutMs: number,
  ) {}

  add(key: string, write: OwnWrite): void {
    const pending = getOrInsert(this.#pending, key, () => ({ versions: new Map(), conditions: new Map() }));
    const { cache } = write;
    if ('version' in write) {
      const { versions } = pending;
      versions.set(cache, Math.max(write.version, versions.get(cache) ?? 0));
    } else {
      getOrInsert(pending.conditions, cache, () => []).push(write.isShown);
    }
  }

  /** Resolves with true when the caches show all writes for the key, with false after a timeout. */
  async seen(key: string, signal: AbortSignal): Promise<boolean> {
    const pending = this.#pending.get(key);
    if (!pending) return true;
    this.#pending.delete(key);
    const changes = waitsOf(pending);
    if (changes.length === 0) return true;
    const timeout = new AbortController();
    setMaxListeners(0, timeout.signal);
    const onAbort = () => timeout.abort(signal.reason);
    signal.addEventListener('abort', onAbort, { once: true });
    const late = sleep(this.clock, this.timeoutMs, timeout.signal).then(
      () => false,
      () => false,
    );
    try {
      const all = Promise.all(changes.map((wait) => wait(timeout.signal))).then(
        () => true,
        () => false,
      );
      return await Promise.race([all, late]);
    } finally {
      signal.removeEventListener('abort', onAbort);
      timeout.abort();
    }
  }
}

/** Returns waits for the writes that are not visible yet. */
function waitsOf({ versions, conditions }: Pending): ((signal: AbortSignal) => Promise<void>)[] {
  const out: ((signal: AbortSignal) => Promise<void>)[] = [];
  for (const [cache, version] of versions) {
    if (!cache.shows(version)) out.push((signal) => cache.waitFor(version, signal));
  }
  for (const [cache, each] of conditions) {
    const areMet = (view: unknown) => {
      while (each.length > 0 && each.at(-1)!(view)) each.pop();
      return each.length === 0;
    };
    if (!areMet(cache.lister)) out.push((signal) => cache.until(areMet, signal));
  }
  return out;
}
