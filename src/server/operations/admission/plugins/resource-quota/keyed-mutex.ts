/** A lock per key. Waiters acquire it in order of arrival. */
export class KeyedMutex {
  readonly #last = new Map<string, Promise<void>>();

  /** Resolves when the lock is held, with a function that releases it. */
  async lock(key: string): Promise<() => void> {
    const before = this.#last.get(key);
    let release = () => {};
    const held = new Promise<void>((resolve) => {
      release = () => {
        if (this.#last.get(key) === held) this.#last.delete(key);
        resolve();
      };
    });
    this.#last.set(key, held);
    await before;
    return release;
  }
}
