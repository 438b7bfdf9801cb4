import { MAX_SHARE } from '../collections/bounded-map.ts';

export interface ByteBudgetOptions {
  /** Limit for everything in the cache together. */
  readonly maxBytes: number;
  /** Empties the cache. Called before an entry would exceed the limit. */
  readonly onFull: () => void;
}

/** Limits a cache that consists of several maps, such as maps of maps, in bytes: it is emptied when it is full. */
export class ByteBudget {
  readonly #options: ByteBudgetOptions;
  #used = 0;

  constructor(options: ByteBudgetOptions) {
    this.#options = options;
  }

  get used(): number {
    return this.#used;
  }

  /** Whether an entry of this size may be added; it is counted then. Entries that take too large a share may not. */
  admit(bytes: number): boolean {
    const { maxBytes, onFull } = this.#options;
    if (bytes > maxBytes * MAX_SHARE) return false;
    if (this.#used + bytes > maxBytes) {
      onFull();
      this.#used = 0;
    }
    this.#used += bytes;
    return true;
  }

  /** To be called when the cache was emptied for another reason. */
  reset(): void {
    this.#used = 0;
  }
}
