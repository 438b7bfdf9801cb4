import { setMaxListeners } from 'node:events';
import type { Clock } from '../../base/clock.ts';
import type { Logger } from '../../base/log.ts';
import type { Client } from '../../client/client.ts';
import type { Action } from './plan.ts';

type Wait = Extract<Action, { type: 'requeueOnChange' }>;

/** How soon after a change that woke a key the next one may, in milliseconds: many changes come together. */
const PACE = 500;

/** How long after a watch that broke to look again, in milliseconds. */
const LOOK_AGAIN = 5000;

export interface ChangeWaitsOptions {
  readonly client: Client;
  readonly clock: Clock;
  readonly log: Logger;
  /** Plans for the key, `delay` milliseconds from now. */
  readonly wake: (key: string, delay: number) => void;
}

/** Watches that plans asked for: the first change of any of them wakes the key, and its next plan ends them all. */
export class ChangeWaits {
  readonly #options: ChangeWaitsOptions;
  readonly #running = new Map<string, AbortController>();
  readonly #open = new Set<Promise<void>>();
  readonly #woken = new Map<string, number>();

  constructor(options: ChangeWaitsOptions) {
    this.#options = options;
  }

  start(key: string, waits: readonly Wait[]): void {
    if (waits.length === 0) {
      this.#woken.delete(key);
      return;
    }
    const stop = new AbortController();
    setMaxListeners(0, stop.signal);
    this.#running.set(key, stop);
    for (const wait of waits) {
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
    const { client, log, wake } = this.#options;
    try {
      const watch = await client.of(kind).in(namespace).watch({ resourceVersion: since, signal });
      for await (const _ of watch) {
        if (!signal.aborted) this.#changed(key);
        return;
      }
    } catch (error) {
      // Whatever it is, the next plan looks for itself.
      log.debug('a wait for a change broke', { key, kind: kind.kind, error: String(error) });
    }
    if (!signal.aborted) wake(key, LOOK_AGAIN);
  }

  /** The first change wakes at once. What was to wake the key later, and did not have to, delays nothing more. */
  #changed(key: string): void {
    const { clock, wake } = this.#options;
    this.end(key);
    const now = clock.now();
    const last = Math.min(this.#woken.get(key) ?? Number.NEGATIVE_INFINITY, now);
    const at = Math.max(now, last + PACE);
    this.#woken.set(key, at);
    wake(key, at - now);
  }
}
