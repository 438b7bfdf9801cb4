/** Back-off before a failed pod is replaced, for each node. */
const INITIAL_DELAY_MS = 1000;
const MAX_DELAY_MS = 15 * 60_000;
/** Time without a failure after which the back-off is reset. */
const RESET_AFTER_MS = 2 * MAX_DELAY_MS;

interface Failures {
  readonly since: number;
  readonly delay: number;
}

export class FailedPods {
  /** Failures by age: the most recent is last. */
  readonly #failures = new Map<string, Failures>();

  /** Returns the milliseconds to wait; 0 when the pod may be replaced now. */
  wait(key: string, now: number): number {
    const known = this.#known(key, now);
    return known ? Math.max(0, known.since + known.delay - now) : 0;
  }

  /** Records that a failed pod was replaced. */
  note(key: string, now: number): void {
    const known = this.#known(key, now);
    this.#failures.delete(key);
    this.#failures.set(key, { since: now, delay: known ? Math.min(known.delay * 2, MAX_DELAY_MS) : INITIAL_DELAY_MS });
    for (const [old, { since }] of this.#failures) {
      if (now - since <= RESET_AFTER_MS) break;
      this.#failures.delete(old);
    }
  }

  #known(key: string, now: number): Failures | undefined {
    const found = this.#failures.get(key);
    return found && now - found.since <= RESET_AFTER_MS ? found : undefined;
  }
}
