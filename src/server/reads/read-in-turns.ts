import type { TurnBudget } from '../../base/event-loop/turn-budget.ts';

/** Something that takes time in proportion to its size. */
export interface Sized {
  /** About how many bytes it has; 0: unknown, and small. */
  readonly size: number;
}

/** Fewer objects are read without a look at the clock, unless they are large. */
const MIN_DIVIDED = 256;
/** Objects that are read between two looks at the clock, and bytes: those take some milliseconds. */
const STEP = 32;
const STEP_BYTES = 256 * 1024;

/**
 * Passes objects to `read`, in several turns of the event loop where that takes long: most objects that nobody has asked for
 * are kept as bytes alone, and decoding one may take milliseconds. Undefined: all have been passed.
 */
export function readInTurns<T extends Sized>(
  budget: TurnBudget,
  objects: readonly T[],
  read: (object: T) => void,
): Promise<void> | undefined {
  const reading = new Reading(budget, objects, read);
  return reading.advance() ? undefined : reading.rest();
}

class Reading<T extends Sized> {
  readonly #budget: TurnBudget;
  readonly #objects: readonly T[];
  readonly #read: (object: T) => void;
  readonly #step: number;
  #next = 0;

  constructor(budget: TurnBudget, objects: readonly T[], read: (object: T) => void) {
    this.#budget = budget;
    this.#objects = objects;
    this.#read = read;
    this.#step = objects.length < MIN_DIVIDED ? Number.POSITIVE_INFINITY : STEP;
  }

  /** Reads on until the turn is used up, and at least one object. Returns whether everything was read. */
  advance(): boolean {
    let count = 0;
    let bytes = 0;
    while (this.#next < this.#objects.length) {
      const object = this.#objects[this.#next]!;
      if (count > 0 && (count >= this.#step || bytes + object.size > STEP_BYTES)) {
        if (this.#budget.isSpent()) return false;
        count = 0;
        bytes = 0;
      }
      count++;
      bytes += object.size;
      this.#next++;
      this.#read(object);
    }
    return true;
  }

  async rest(): Promise<void> {
    do await this.#budget.nextTurn();
    while (!this.advance());
  }
}
