/** Growing, jittered delays between attempts. */
import type { Random } from './random.ts';

export interface BackoffOptions {
  /** The first delay, in milliseconds. */
  readonly base: number;
  /** No delay is longer. */
  readonly max: number;
  /** What each delay is multiplied by. Default: 2. */
  readonly factor?: number;
  /** The share of a delay that chance may take off it, so that many who failed together do not return together. Default: 0.5. */
  readonly jitter?: number;
}

/** The delay before the attempt that follows `failures` failed ones (1 or more). */
export function backoffDelay(failures: number, options: BackoffOptions, random: Random): number {
  const { base, max, factor = 2, jitter = 0.5 } = options;
  const full = Math.min(max, base * factor ** Math.max(0, failures - 1));
  return full - full * jitter * (random.int(1001) / 1000);
}

/** Counts failures in a row and gives the delay that each asks for. */
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
