import type { TurnBudget } from './turn-budget.ts';

/** Work that yields when its turn of the event loop is used up. A yielded promise is awaited first. */
export type DividedWork<T> = Generator<Promise<unknown> | undefined, T>;

/** Tells work when it should yield. */
export type Pace = Pick<TurnBudget, 'isSpent'>;

type Turns = Pick<TurnBudget, 'nextTurn'>;

/** The caller that waits for the work. `signal` is read only when the work yields, since it is created on demand. */
interface Waiting {
  readonly signal?: AbortSignal | undefined;
}

/** Performs work, synchronously unless it yields. Rejects when the caller stops waiting. */
export function inTurns<T>(turns: Turns, work: DividedWork<T>, waiting?: Waiting): T | Promise<T> {
  const { done, value } = work.next();
  return done ? value : rest(turns, work, { until: value, waiting });
}

async function rest<T>(
  turns: Turns,
  work: DividedWork<T>,
  { until, waiting }: { readonly until: Promise<unknown> | undefined; readonly waiting: Waiting | undefined },
): Promise<T> {
  const signal = waiting?.signal;
  for (let awaited = until; ; ) {
    await (awaited ?? turns.nextTurn());
    signal?.throwIfAborted();
    const { done, value } = work.next();
    if (done) return value;
    awaited = value;
  }
}
