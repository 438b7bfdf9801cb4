/** Growing, jittered delays between attempts. */
import type { Random } from '../random.ts';

export interface BackoffOptions {
  /** The first delay, in milliseconds. */
  readonly base: number;
  /** The longest delay, in milliseconds. */
  readonly max: number;
  /** Factor by which each delay grows. Default: 2. */
  readonly factor?: number;
  /** Fraction of a delay that is randomized, so that clients that failed together do not retry together. Default: 0.5. */
  readonly jitter?: number;
}

/** Returns the delay before the next attempt, after `failures` failed ones (1 or more). */
export function backoffDelay(failures: number, options: BackoffOptions, random: Random): number {
  const { base, max, factor = 2, jitter = 0.5 } = options;
  const full = Math.min(max, base * factor ** Math.max(0, failures - 1));
  return full - full * jitter * (random.int(1001) / 1000);
}

/** Counts consecutive failures and returns the delay after each. */
export class Backoff {
  #failures = 0;

  constructor(
    readonly options: BackoffOptions,
    readonly random: Random,
  ) {}

  next(): number {
    return backoffDelay(++this.#failures, this.options, this.random);
  }

  reset(): void {
    this.#failures = 0;
  }
}
