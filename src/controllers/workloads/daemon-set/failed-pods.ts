/** How long a DaemonSet waits before it replaces a pod that failed, on each node longer every time. */
const FIRST = 1000;
const LONGEST = 15 * 60_000;
/** After so long without a failure, all is forgiven. */
const FORGOTTEN = 2 * LONGEST;

/** What a plan asks. */
export interface Patience {
  /** Milliseconds to wait; 0 when the pod may be replaced now. */
  wait(place: string, now: number): number;
}

interface Failures {
  readonly since: number;
  readonly delay: number;
}

export class FailedPods implements Patience {
  /** By age: what was noted last is last. */
  readonly #places = new Map<string, Failures>();

  wait(place: string, now: number): number {
    const known = this.#known(place, now);
    return known ? Math.max(0, known.since + known.delay - now) : 0;
  }

  /** A failed pod was replaced there. */
  note(place: string, now: number): void {
    const known = this.#known(place, now);
    this.#places.delete(place);
    this.#places.set(place, { since: now, delay: known ? Math.min(known.delay * 2, LONGEST) : FIRST });
    for (const [old, { since }] of this.#places) {
      if (now - since <= FORGOTTEN) break;
      this.#places.delete(old);
    }
  }

  #known(place: string, now: number): Failures | undefined {
    const found = this.#places.get(place);
    return found && now - found.since <= FORGOTTEN ? found : undefined;
  }
}
