import type { Sized } from '../../../api/reply.ts';
import { type DividedWork, inTurns, type Pace } from '../../../base/event-loop/in-turns.ts';
import type { TurnBudget } from '../../../base/event-loop/turn-budget.ts';

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
  return inTurns(budget, reading(objects, read, budget)) ?? undefined;
}

/** Whether reading may take more than one turn. */
export function mayTakeTurns(objects: readonly Sized[]): boolean {
  if (objects.length >= MIN_DIVIDED) return true;
  let bytes = 0;
  for (const { size } of objects) bytes += size;
  return bytes > STEP_BYTES;
}

function* reading<T extends Sized>(objects: readonly T[], read: (object: T) => void, pace: Pace): DividedWork<void> {
  const step = objects.length < MIN_DIVIDED ? Number.POSITIVE_INFINITY : STEP;
  let count = 0;
  let bytes = 0;
  for (const object of objects) {
    if (count > 0 && (count >= step || bytes + object.size > STEP_BYTES)) {
      if (pace.isSpent()) yield;
      count = 0;
      bytes = 0;
    }
    count++;
    bytes += object.size;
    read(object);
  }
}
