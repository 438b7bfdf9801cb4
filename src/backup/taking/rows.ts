/** Reads all rows of a store that is in use, at one revision, without holding up its other users. */
import { type Clock, sleep } from '../../base/time/clock.ts';
import type { DamagedRow, Row, Store } from '../../store/store.ts';

/** Rows that are read in one go: a few milliseconds of work. */
const PAGE_ROWS = 100;

export interface RowsOptions {
  readonly store: Pick<Store, 'list'>;
  readonly revision: number;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  damaged(row: DamagedRow): void;
}

/** After each page, it waits for as long as the page took: requests get at least half of the thread. */
export async function* rowsAt({ store, revision, clock, signal, damaged }: RowsOptions): AsyncGenerator<Row> {
  let after: string | undefined;
  for (let more = true; more; ) {
    signal.throwIfAborted();
    const began = clock.monotonic?.();
    const page = await store.list('', { revision, limit: PAGE_ROWS, after, damaged });
    yield* page.rows;
    more = page.more;
    after = page.rows.at(-1)?.key;
    if (began !== undefined) await sleep(clock, clock.monotonic!() - began, signal);
  }
}
