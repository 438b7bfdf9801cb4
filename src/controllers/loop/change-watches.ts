import { setMaxListeners } from 'node:events';
import type { ClientTools } from '../../client/client.ts';
import type { Action } from './plan.ts';

type Wait = Extract<Action, { type: 'requeueOnChange' }>;

/** Minimum interval between changes that wake a key, since many changes come together. */
const MIN_WAKE_INTERVAL_MS = 500;

/** Delay before a key is planned again after its watch broke. */
const RETRY_MS = 5000;

export interface ChangeWatchesOptions extends Omit<ClientTools, 'random'> {
  /** Plans for the key after `delay` milliseconds. */
  readonly wake: (key: string, delay: number) => void;
}

/** The watches of `requeueOnChange` actions: the first change of any wakes the key, and its next plan ends them all. */
export class ChangeWatches {
  readonly #running = new Map<string, AbortController>();
  readonly #open = new Set<Promise<void>>();
  readonly #woken = new Map<string, number>();

  constructor(private readonly options: ChangeWatchesOptions) {}

  start(key: string, changes: readonly Wait[]): void {
    if (changes.length === 0) {
      this.#woken.delete(key);
      return;
    }
    const stop = new AbortController();
    setMaxListeners(0, stop.signal);
    this.#running.set(key, stop);
    for (const wait of changes) {
      const open = this.#watch(key, wait, stop.signal).finally(() => this.#open.delete(open));
      this.#open.add(open);
    }
  }

  end(key: string): void {
    this.#running.get(key)?.abort();
    this.#running.delete(key);
  }

  async close(): Promise<void> {
    for (const key of [...this.#running.keys()]) this.end(key);
    await Promise.all(this.#open);
  }

  async #watch(key: string, { kind, namespace, since }: Wait, signal: AbortSignal): Promise<void> {
    const { client, log, wake } = this.options;
    try {
      const watch = await client.of(kind).in(namespace).watch({ resourceVersion: since, signal });
      for await (const _ of watch) {
        if (!signal.aborted) this.#changed(key);
        return;
      }
    } catch (error) {
      // The next plan reads the current state anyway.
      log.debug('watching for changes failed', { key, kind: kind.kind, error: String(error) });
    }
    if (!signal.aborted) wake(key, RETRY_MS);
  }

  /** The first change wakes at once; following ones are delayed. */
  #changed(key: string): void {
    const { clock, wake } = this.options;
    this.end(key);
    const now = clock.now();
    const last = Math.min(this.#woken.get(key) ?? Number.NEGATIVE_INFINITY, now);
    const at = Math.max(now, last + MIN_WAKE_INTERVAL_MS);
    this.#woken.set(key, at);
    wake(key, at - now);
  }
}
