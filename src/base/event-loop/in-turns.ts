import type { TurnBudget } from './turn-budget.ts';

/** Work that yields when it has used up its turn of the event loop, and goes on in another one. */
export type DividedWork<T> = Generator<void, T>;

/** Tells work when it should yield. */
export type Pace = Pick<TurnBudget, 'isSpent'>;

type Turns = Pick<TurnBudget, 'nextTurn'>;

/** Who waits for work. The signal is asked for only when the work takes long: there is none before. */
interface Waiting {
  readonly signal?: AbortSignal | undefined;
}

/** Performs work: at once, unless it yields. Rejects when nobody waits for it any more. */
export function inTurns<T>(turns: Turns, work: DividedWork<T>, waiting?: Waiting): T | Promise<T> {
  const { done, value } = work.next();
  return done ? value : rest(turns, work, waiting?.signal);
}

async function rest<T>(turns: Turns, work: DividedWork<T>, signal: AbortSignal | undefined): Promise<T> {
  for (;;) {
    await turns.nextTurn();
    signal?.throwIfAborted();
    const { done, value } = work.next();
    if (done) return value;
  }
}
