import { MAX_SHARE } from '../collections/bounded-map.ts';

export interface ByteBudgetOptions {
  /** Limit for the total size of the cache. */
  readonly maxBytes: number;
  /** Empties the cache. Called before an entry would exceed the limit. */
  readonly onFull: () => void;
}

/** Limits a cache that consists of several maps, in bytes: the whole cache is emptied when it is full. */
export class ByteBudget {
  #used = 0;

  constructor(private readonly options: ByteBudgetOptions) {}

  get used(): number {
    return this.#used;
  }

  /** Reserves space for an entry, and returns whether it may be added. Entries larger than `MAX_SHARE` may not. */
  admit(bytes: number): boolean {
    const { maxBytes, onFull } = this.options;
    if (bytes > maxBytes * MAX_SHARE) return false;
    if (this.#used + bytes > maxBytes) {
      onFull();
      this.#used = 0;
    }
    this.#used += bytes;
    return true;
  }

  /** Must be called when the cache was emptied for another reason. */
  reset(): void {
    this.#used = 0;
  }
}
