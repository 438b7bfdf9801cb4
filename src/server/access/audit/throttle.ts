import type { Clock } from '../../../base/time/clock.ts';

/** A token bucket: `qps` tokens per second, of which up to `burst` accumulate. */
export class Throttle {
  readonly #qps: number;
  readonly #burst: number;
  readonly #clock: Clock;
  #tokens: number;
  #refilledAt: number;

  constructor({ qps, burst }: { readonly qps: number; readonly burst: number }, clock: Clock) {
    this.#qps = qps;
    this.#burst = burst;
    this.#clock = clock;
    this.#tokens = burst;
    this.#refilledAt = clock.now();
  }

  /** Takes a token and returns 0, or returns the milliseconds until there is one. */
  take(): number {
    const now = this.#clock.now();
    this.#tokens = Math.min(this.#burst, this.#tokens + ((now - this.#refilledAt) / 1000) * this.#qps);
    this.#refilledAt = now;
    if (this.#tokens < 1) return Math.ceil(((1 - this.#tokens) / this.#qps) * 1000);
    this.#tokens--;
    return 0;
  }
}
