/** What was worked out for the latest texts: checking a signature takes as long as serving several requests. */
export class Remembered<T> {
  readonly #known = new Map<string, T>();

  constructor(private readonly size: number) {}

  get(text: string): T | undefined {
    return this.#known.get(text);
  }

  /** The oldest gives way. */
  set(text: string, value: T): void {
    for (const oldest of this.#known.keys()) {
      if (this.#known.size < this.size) break;
      this.#known.delete(oldest);
    }
    this.#known.set(text, value);
  }

  forget(text: string): void {
    this.#known.delete(text);
  }
}
