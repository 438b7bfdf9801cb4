/** Reads all rows of a store at one revision, a page at a time. */
import type { DamagedRow, Row, Store } from '../../store/store.ts';

/** Rows that are read in one go: half a millisecond of work. */
const PAGE_ROWS = 50;

export interface RowsOptions {
  readonly store: Pick<Store, 'list'>;
  readonly revision: number;
  damaged(row: DamagedRow): void;
}

export async function* rowsAt({ store, revision, damaged }: RowsOptions): AsyncGenerator<Row> {
  let after: string | undefined;
  for (let more = true; more; ) {
    const page = await store.list('', { revision, limit: PAGE_ROWS, after, damaged });
    yield* page.rows;
    more = page.more;
    after = page.rows.at(-1)?.key;
  }
}
