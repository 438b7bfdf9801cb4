/**
 * A queue of keys. A key is queued once, and processed by one worker at a time; one that is added meanwhile is
 * processed again. A worker can therefore decide from the newest state alone.
 */
import type { Random } from '../random.ts';
import { type BackoffOptions, backoffDelay } from '../time/backoff.ts';
import type { Clock, Timer } from '../time/clock.ts';
import type { Tools } from '../tools.ts';

/** Receives the events of keys, for metrics. */
export interface WorkQueueObserver {
  /** The key waits for a worker from now on. */
  added(key: string): void;
  started(key: string): void;
  ended(key: string): void;
  /** The key failed, and is added again later. */
  retried(key: string): void;
}

export interface WorkQueueOptions extends Pick<Tools, 'clock' | 'random'> {
  /** Delays of failed keys. Default: from 5 ms to 5 minutes. */
  readonly backoff?: BackoffOptions;
  /** True when a failed key waits for its delay even if it is added meanwhile. */
  readonly isPatient?: boolean;
  readonly observer?: WorkQueueObserver | undefined;
}

export interface RunOptions {
  /** Number of keys that are processed concurrently. Default: 1. */
  readonly workers?: number;
  /** Closes the queue. */
  readonly signal?: AbortSignal;
}

const DEFAULT_BACKOFF: BackoffOptions = { base: 5, max: 300_000 };

export class WorkQueue {
  readonly #clock: Clock;
  readonly #random: Random;
  readonly #backoff: BackoffOptions;
  readonly #isPatient: boolean;
  readonly #observer: WorkQueueObserver | undefined;
  /** Ready keys, in order of arrival. */
  readonly #ready = new Set<string>();
  readonly #running = new Set<string>();
  /** Running keys that were added again. */
  readonly #again = new Set<string>();
  readonly #delayed = new Map<string, { at: number; timer: Timer }>();
  readonly #failures = new Map<string, number>();
  #idleWorkers: (() => void)[] = [];
  #idleWaiters: (() => void)[] = [];
  #state: 'open' | 'draining' | 'closed' = 'open';

  constructor({ clock, random, backoff = DEFAULT_BACKOFF, isPatient = false, observer }: WorkQueueOptions) {
    this.#clock = clock;
    this.#random = random;
    this.#backoff = backoff;
    this.#isPatient = isPatient;
    this.#observer = observer;
  }

  add(key: string): void {
    if (this.#state !== 'open') return;
    if (this.#isPatient && this.#failures.has(key) && this.#delayed.has(key)) return;
    this.#addNow(key);
  }

  #addNow(key: string): void {
    this.#undelay(key);
    if (this.#running.has(key)) this.#again.add(key);
    else this.#makeReady(key);
  }

  /** Adds the key `delay` milliseconds from now. If a delay is pending, the earlier one wins. */
  addAfter(key: string, delay: number): void {
    // A timer with NaN would fire at once, forever; it is a bug in the backoff of the caller.
    if (Number.isNaN(delay)) throw new RangeError(`the delay of ${key} is not a number`);
    if (this.#state !== 'open') return;
    if (delay <= 0) {
      this.add(key);
      return;
    }
    const at = this.#clock.now() + delay;
    const earlier = this.#delayed.get(key);
    if (earlier && earlier.at <= at) return;
    earlier?.timer.cancel();
    this.#delayed.set(key, { at, timer: this.#clock.timer(delay, () => this.#addNow(key)) });
  }

  /** Adds the key after a delay that grows with every failure until `forget`. */
  retry(key: string): void {
    const failures = this.failures(key) + 1;
    this.#failures.set(key, failures);
    this.#observer?.retried(key);
    if (this.#isPatient) this.#again.delete(key);
    this.addAfter(key, backoffDelay(failures, this.#backoff, this.#random));
  }

  /** Work that begins now sees every change so far: the key is not processed again for those. */
  markSeen(key: string): void {
    this.#again.delete(key);
  }

  /** Resets the backoff of a key that succeeded. */
  forget(key: string): void {
    this.#failures.delete(key);
  }

  failures(key: string): number {
    return this.#failures.get(key) ?? 0;
  }

  /** Number of keys that are ready or being processed, without delayed ones. */
  get size(): number {
    return this.#ready.size + this.#running.size;
  }

  /**
   * Runs workers until the queue is closed or drained; resolves when the last one has finished. When `work` rejects, the
   * queue is closed and run() rejects with the same error: workers handle expected errors themselves.
   */
  async run(work: (key: string) => Promise<void>, { workers = 1, signal }: RunOptions = {}): Promise<void> {
    const close = () => this.close();
    if (signal?.aborted) close();
    signal?.addEventListener('abort', close, { once: true });
    try {
      const results = await Promise.allSettled(Array.from({ length: workers }, () => this.#worker(work)));
      for (const result of results) if (result.status === 'rejected') throw result.reason;
    } finally {
      signal?.removeEventListener('abort', close);
    }
  }

  /** Resolves when no key is ready or being processed. */
  async idle(): Promise<void> {
    while (this.size > 0) await new Promise<void>((resolve) => this.#idleWaiters.push(resolve));
  }

  /** Accepts no more keys, drops delayed ones, and lets the workers finish the others. */
  async drain(): Promise<void> {
    if (this.#state === 'open') this.#state = 'draining';
    this.#cancelDelayed();
    this.#wakeWorkers();
    await this.idle();
  }

  /** Accepts no more keys, and drops those that are not being processed. */
  close(): void {
    this.#state = 'closed';
    this.#cancelDelayed();
    this.#again.clear();
    this.#ready.clear();
    this.#wakeWorkers();
    this.#settle();
  }

  async #worker(work: (key: string) => Promise<void>): Promise<void> {
    for (;;) {
      const key = this.#take();
      if (key === undefined) {
        if (this.#state !== 'open') return;
        await new Promise<void>((resolve) => this.#idleWorkers.push(resolve));
        continue;
      }
      try {
        await work(key);
      } catch (error) {
        this.close();
        throw error;
      } finally {
        this.#done(key);
      }
    }
  }

  #take(): string | undefined {
    const [key] = this.#ready;
    if (key === undefined) return undefined;
    this.#ready.delete(key);
    this.#running.add(key);
    this.#observer?.started(key);
    return key;
  }

  #done(key: string): void {
    this.#running.delete(key);
    this.#observer?.ended(key);
    if (this.#again.delete(key)) this.#makeReady(key);
    this.#settle();
  }

  #makeReady(key: string): void {
    if (this.#ready.has(key)) return;
    this.#ready.add(key);
    this.#observer?.added(key);
    this.#idleWorkers.pop()?.();
  }

  #settle(): void {
    if (this.size > 0) return;
    const waiters = this.#idleWaiters;
    this.#idleWaiters = [];
    for (const resolve of waiters) resolve();
  }

  #wakeWorkers(): void {
    const workers = this.#idleWorkers;
    this.#idleWorkers = [];
    for (const wake of workers) wake();
  }

  #undelay(key: string): void {
    this.#delayed.get(key)?.timer.cancel();
    this.#delayed.delete(key);
  }

  #cancelDelayed(): void {
    for (const { timer } of this.#delayed.values()) timer.cancel();
    this.#delayed.clear();
  }
}
