/** Lets one at a time do something that has a name, in the order in which they came. */
export class Turns {
  readonly #last = new Map<string, Promise<void>>();

  /** Resolves when it is one's turn, with what ends it. */
  async take(name: string): Promise<() => void> {
    const before = this.#last.get(name);
    let release = () => {};
    const mine = new Promise<void>((resolve) => {
      release = () => {
        if (this.#last.get(name) === mine) this.#last.delete(name);
        resolve();
      };
    });
    this.#last.set(name, mine);
    await before;
    return release;
  }
}
