import type { TurnBudget } from '../../base/event-loop/turn-budget.ts';

/** Fewer objects are read at once. */
const MIN_DIVIDED = 256;
/** Objects that are read between two looks at the clock. */
const STEP = 32;

/**
 * Reads the objects of a long list in several turns of the event loop, so that reading them again is quick: most objects that
 * nobody has asked for are kept as bytes alone. Undefined: there is nothing to wait for.
 */
export function readInTurns<T>(
  budget: TurnBudget,
  objects: readonly T[],
  read: (object: T) => void,
): Promise<void> | undefined {
  return objects.length < MIN_DIVIDED ? undefined : readAll(budget, objects, read);
}

async function readAll<T>(budget: TurnBudget, objects: readonly T[], read: (object: T) => void): Promise<void> {
  for (let index = 0; index < objects.length; index++) {
    if (index % STEP === 0 && budget.isSpent()) await budget.nextTurn();
    read(objects[index]!);
  }
}
