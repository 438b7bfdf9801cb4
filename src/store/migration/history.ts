/** Reads everything that a store can read, to fill another store with it. */
import type { HistoryStep, StoreHistory } from '../driver.ts';
import { type Change, type Row, type Store, StoreCompacted } from '../store.ts';

const PAGE_ROWS = 500;

/**
 * Reads the oldest state of a store, and then its changes. The steps end when everything up to the revision `through` was read, which
 * may become known later: the store can be written to meanwhile.
 */
export async function readHistory(
  store: Store,
  through: Promise<number>,
  signal = new AbortController().signal,
): Promise<StoreHistory> {
  for (;;) {
    const oldest = await oldestRevision(store);
    try {
      const rows = await rowsAt(store, oldest, signal);
      return { oldest, rows, steps: stepsAfter(store, oldest, { through, signal }) };
    } catch (error) {
      // A store in use discards old history while it is read.
      if (!(error instanceof StoreCompacted)) throw error;
    }
  }
}

/** Finds the oldest revision that a list or a watch can start from. */
async function oldestRevision(store: Store): Promise<number> {
  try {
    await store.list('', { revision: 1, limit: 1 });
    return 1;
  } catch (error) {
    if (error instanceof StoreCompacted) return error.oldest;
    throw error;
  }
}

async function rowsAt(store: Store, revision: number, signal: AbortSignal): Promise<readonly Row[]> {
  const rows: Row[] = [];
  for (let more = true; more; ) {
    signal.throwIfAborted();
    const page = await store.list('', { revision, limit: PAGE_ROWS, after: rows.at(-1)?.key });
    rows.push(...page.rows);
    more = page.more;
  }
  return rows.sort((a, b) => a.revision - b.revision);
}

interface Following {
  readonly through: Promise<number>;
  readonly signal: AbortSignal;
}

/** Yields the changes after a revision until `through` is reached. */
async function* stepsAfter(store: Store, after: number, { through, signal }: Following): AsyncGenerator<HistoryStep> {
  const queue: HistoryStep[] = [];
  let position = after;
  let ended: { readonly error: Error } | undefined;
  let wake: () => void = () => undefined;
  let goal: number | undefined;
  const fail = (error: unknown) => {
    ended = { error: error as Error };
    wake();
  };
  through.then((revision) => {
    goal = revision;
    wake();
  }, fail);
  const abort = () => fail(signal.reason);
  signal.addEventListener('abort', abort);
  if (signal.aborted) abort();
  const reach = (step: HistoryStep) => {
    if (step.revision <= position) return;
    queue.push(step);
    position = step.revision;
  };
  const subscription = store.watch(after, {
    changes(batch) {
      for (const step of byRevision(batch)) reach(step);
      wake();
    },
    progress(revision) {
      reach({ revision, changes: [] });
      wake();
    },
    closed: (error) => fail(error ?? new Error('the store was closed while it was read')),
  });
  try {
    for (;;) {
      for (let step = queue.shift(); step; step = queue.shift()) yield step;
      if (ended) throw ended.error;
      if (goal !== undefined && position >= goal) return;
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
    }
  } finally {
    signal.removeEventListener('abort', abort);
    subscription.stop();
  }
}

function byRevision(batch: readonly Change[]): readonly HistoryStep[] {
  const steps: { revision: number; changes: Change[] }[] = [];
  for (const change of batch) {
    const last = steps.at(-1);
    if (last?.revision === change.revision) last.changes.push(change);
    else steps.push({ revision: change.revision, changes: [change] });
  }
  return steps;
}
