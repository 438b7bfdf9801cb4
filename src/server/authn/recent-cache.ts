/** A cache of limited size, by text; the oldest entry is evicted. Verifying a signature costs as much as several requests. */
export class RecentCache<T> {
  readonly #entries = new Map<string, T>();

  constructor(private readonly maxSize: number) {}

  get(key: string): T | undefined {
    return this.#entries.get(key);
  }

  set(key: string, value: T): void {
    for (const oldest of this.#entries.keys()) {
      if (this.#entries.size < this.maxSize) break;
      this.#entries.delete(oldest);
    }
    this.#entries.set(key, value);
  }

  delete(key: string): void {
    this.#entries.delete(key);
  }
}
