/**
 * Divides the work of an interpreter, whose state is the stack of its calls: a generator in each of them would take several
 * times as long (docs/decisions/0032-replay.md). Instead it throws a TurnSpent through all of them, and is run again from its
 * beginning, without the parts that it has noted as complete.
 */
import type { DividedWork } from './in-turns.ts';

/** Ends a run that is to continue in another turn, at the earliest when `until` has settled. Nothing may absorb it. */
export class TurnSpent {
  constructor(readonly until?: Promise<unknown>) {}
}

/** Calls `run` until it completes. It must get further each time, however short its turns are. */
export function* replayed<T>(run: () => T): DividedWork<T> {
  for (;;) {
    let spent: TurnSpent;
    try {
      return run();
    } catch (error) {
      if (!(error instanceof TurnSpent)) throw error;
      spent = error;
    }
    yield spent.until;
  }
}

/** Continues work inside a run, which ends with it when the work yields. */
export function continued<T>(work: DividedWork<T>): T {
  const { done, value } = work.next();
  if (done) return value;
  throw new TurnSpent(value);
}
