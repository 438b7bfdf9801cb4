import type { Clock } from '../../base/clock.ts';

/** So many a second on average; after a pause, some at once. */
export class Throttle {
  readonly #qps: number;
  readonly #burst: number;
  readonly #clock: Clock;
  #left: number;
  #seen: number;

  constructor({ qps, burst }: { readonly qps: number; readonly burst: number }, clock: Clock) {
    this.#qps = qps;
    this.#burst = burst;
    this.#clock = clock;
    this.#left = burst;
    this.#seen = clock.now();
  }

  /** 0, and one is taken; or the milliseconds until there is one to take. */
  take(): number {
    const now = this.#clock.now();
    this.#left = Math.min(this.#burst, this.#left + ((now - this.#seen) / 1000) * this.#qps);
    this.#seen = now;
    if (this.#left < 1) return Math.ceil(((1 - this.#left) / this.#qps) * 1000);
    this.#left--;
    return 0;
  }
}
