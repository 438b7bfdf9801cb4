/** Compares two stores: one is the copy of the other. */
import { type Row, type Store, StoreDamaged } from '../store.ts';

const PAGE_ROWS = 500;

/** Resolves with the number of rows. Rejects unless both stores have the same rows, with the same revisions, at this revision. */
export async function checkCopy(original: Store, copy: Store, revision: number): Promise<number> {
  let count = 0;
  const others = rowsAt(copy, revision);
  for await (const row of rowsAt(original, revision)) {
    const { value: other } = await others.next();
    if (!other || !isSame(row, other)) throw new StoreDamaged(`the copy of ${row.key} differs from the original`);
    count++;
  }
  const { value: surplus } = await others.next();
  if (surplus) throw new StoreDamaged(`the copy has ${surplus.key}, which the original does not have`);
  return count;
}

const isSame = (a: Row, b: Row) => a.key === b.key && a.revision === b.revision && a.value.equals(b.value);

async function* rowsAt(store: Store, revision: number): AsyncGenerator<Row, undefined> {
  let after: string | undefined;
  for (let more = true; more; ) {
    const page = await store.list('', { revision, limit: PAGE_ROWS, after });
    yield* page.rows;
    more = page.more;
    after = page.rows.at(-1)?.key;
  }
  return undefined;
}
