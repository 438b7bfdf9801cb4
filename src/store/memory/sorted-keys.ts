import { compareKeys } from '../keys.ts';

/** Keys in store order. Inserting moves the keys after it, which is cheap up to some hundred thousand keys. */
export class SortedKeys {
  readonly #keys: string[];

  /** `keys` must be in order. */
  constructor(keys: readonly string[] = []) {
    this.#keys = [...keys];
  }

  add(key: string): void {
    this.#keys.splice(this.#lowerBound(key), 0, key);
  }

  remove(key: string): void {
    this.#keys.splice(this.#lowerBound(key), 1);
  }

  /** Keys with the prefix, after `after`. */
  *scan(prefix: string, after = ''): Generator<string> {
    const start = compareKeys(after, prefix) > 0 ? after : prefix;
    for (let i = this.#lowerBound(start); i < this.#keys.length; i++) {
      const key = this.#keys[i] as string;
      if (!key.startsWith(prefix)) return;
      if (key !== after) yield key;
    }
  }

  #lowerBound(key: string): number {
    let low = 0;
    let high = this.#keys.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (compareKeys(this.#keys[middle] as string, key) < 0) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
