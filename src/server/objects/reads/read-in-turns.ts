import type { Sized } from '../../../api/reply.ts';
import { type DividedWork, inTurns, type Pace } from '../../../base/event-loop/in-turns.ts';
import type { TurnBudget } from '../../../base/event-loop/turn-budget.ts';

/** Number of objects below which the clock is not checked, unless they are large. */
const MIN_DIVIDED = 256;
/** Number of objects, and bytes, between checks of the clock, which take some milliseconds to read. */
const STEP = 32;
const STEP_BYTES = 256 * 1024;

/**
 * Passes objects to `read`, over several turns of the event loop when it takes long: objects that have not been
 * requested are kept as bytes alone, and decoding one may take milliseconds. Returns undefined when done.
 */
export function readInTurns<T extends Sized>(
  budget: TurnBudget,
  objects: readonly T[],
  read: (object: T) => void,
): Promise<void> | undefined {
  return inTurns(budget, reading(objects, read, budget)) ?? undefined;
}

/** Reports whether reading may take more than one turn. */
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
