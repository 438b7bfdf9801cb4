import { setMaxListeners } from 'node:events';
import type { Client } from '../client/client.ts';
import type { Action } from './plan.ts';

type Wait = Extract<Action, { type: 'requeueOnChange' }>;

/** Watches that plans asked for: the first change of any of them wakes the key, and its next plan ends them all. */
export class ChangeWaits {
  readonly #running = new Map<string, AbortController>();
  readonly #open = new Set<Promise<void>>();

  constructor(
    readonly client: Client,
    readonly wake: (key: string) => void,
    /** Called when a watch ends without a change: perhaps there was one. */
    readonly wakeLater: (key: string) => void,
  ) {}

  start(key: string, waits: readonly Wait[]): void {
    if (waits.length === 0) return;
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
    try {
      const watch = await this.client.of(kind).in(namespace).watch({ resourceVersion: since, signal });
      for await (const _ of watch) {
        this.wake(key);
        return;
      }
    } catch {
      // Whatever it is, the next plan looks for itself.
    }
    if (!signal.aborted) this.wakeLater(key);
  }
}
