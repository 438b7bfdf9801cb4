import type { TurnBudget } from './turn-budget.ts';

/** Work that yields when it has used up its turn of the event loop, and goes on in another one. */
export type DividedWork<T> = Generator<void, T>;

/** Performs work: at once, unless it yields. */
export function inTurns<T>(turns: Pick<TurnBudget, 'nextTurn'>, work: DividedWork<T>): T | Promise<T> {
  const { done, value } = work.next();
  return done ? value : rest(turns, work);
}

async function rest<T>(turns: Pick<TurnBudget, 'nextTurn'>, work: DividedWork<T>): Promise<T> {
  for (;;) {
    await turns.nextTurn();
    const { done, value } = work.next();
    if (done) return value;
  }
}
