import type { TurnBudget } from '../../base/turn-budget.ts';
import type { Kind } from '../../kinds/kind.ts';
import type { Entry } from '../cache/entry.ts';

/** Fewer objects are read at once. */
const MIN_DIVIDED = 256;
/** Objects that are read between two looks at the clock. */
const STEP = 32;

/**
 * Decodes the objects of a long list in several turns of the event loop, so that selecting from them is quick: most objects
 * that nobody has asked for are kept as bytes alone. Undefined: there is nothing to wait for.
 */
export function readInTurns(budget: TurnBudget, entries: readonly Entry[], kind: Kind): Promise<void> | undefined {
  // Objects that are converted asynchronously are prepared elsewhere.
  return entries.length < MIN_DIVIDED || kind.conversion ? undefined : readAll(budget, entries, kind);
}

async function readAll(budget: TurnBudget, entries: readonly Entry[], kind: Kind): Promise<void> {
  for (let index = 0; index < entries.length; index++) {
    if (index % STEP === 0 && budget.isSpent()) await budget.nextTurn();
    entries[index]?.hub(kind);
  }
}
