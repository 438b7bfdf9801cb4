/**
 * What is open, by its number. Not a Map: one that is added to and taken from all the time makes itself a new table every
 * few hundred times, and the old table leads to the new one. Once one of them is old to the garbage collector, all that
 * follow are kept until the next full collection, with everything that was open at the time, and are copied before that.
 */

/** More than can be open at once: numbers with the same rest share a place, and only one of them is in use. */
const PLACES = 2 ** 22;
/** After so many numbers the first may come again. */
const ROUNDS = 2 ** 30;

/** Gives out numbers that nothing open has. A place is used again, but never soon with the same number. */
export class Numbers {
  readonly #free: number[] = [];
  #places = 0;
  #round = 0;

  take(): number {
    this.#round = (this.#round + 1) % ROUNDS;
    return this.#round * PLACES + (this.#free.pop() ?? this.#places++);
  }

  /** To be called once for each that was taken. */
  giveBack(number: number): void {
    this.#free.push(number % PLACES);
  }
}

export class Numbered<T extends { readonly id: number }> {
  readonly #places: (T | undefined)[] = [];

  add(value: T): void {
    const place = value.id % PLACES;
    while (this.#places.length <= place) this.#places.push(undefined);
    this.#places[place] = value;
  }

  /** Undefined for one that is no longer open, whoever has its place now. */
  get(id: number): T | undefined {
    const found = this.#places[id % PLACES];
    return found?.id === id ? found : undefined;
  }

  /** Says whether it was there. */
  delete(id: number): boolean {
    if (!this.get(id)) return false;
    this.#places[id % PLACES] = undefined;
    return true;
  }
}
