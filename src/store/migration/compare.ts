/** Compares two stores: one is the copy of the other. */
import { type Row, type Store, StoreDamaged } from '../store.ts';

const PAGE_ROWS = 500;
/** Rows that are read at the same time. */
const MAX_IN_FLIGHT = 64;

type Readable = Pick<Store, 'list'>;

/** Resolves with the number of rows. Rejects unless both stores have the same rows, with the same revisions, at this revision. */
export async function checkCopy(original: Readable, copy: Readable, revision: number): Promise<number> {
  let count = 0;
  const others = rowsAt(copy, revision);
  for await (const row of rowsAt(original, revision)) {
    const { value: other } = await others.next();
    if (!other || !isSame(row, other)) throw differs(row.key);
    count++;
  }
  const { value: surplus } = await others.next();
  if (surplus) throw new StoreDamaged(`the copy has ${surplus.key}, which the original does not have`);
  return count;
}

/** Compares only the rows of these keys. */
export async function checkKeys(
  original: Readable,
  copy: Readable,
  { keys, revision }: { readonly keys: Iterable<string>; readonly revision: number },
): Promise<void> {
  const left = keys[Symbol.iterator]();
  const work = async () => {
    for (let next = left.next(); !next.done; next = left.next()) {
      const key = next.value;
      const [row, other] = await Promise.all([rowAt(original, key, revision), rowAt(copy, key, revision)]);
      if (row === undefined ? other !== undefined : other === undefined || !isSame(row, other)) throw differs(key);
    }
  };
  await Promise.all(Array.from({ length: MAX_IN_FLIGHT }, work));
}

const differs = (key: string) => new StoreDamaged(`the copy of ${key} differs from the original`);

const isSame = (a: Row, b: Row) => a.key === b.key && a.revision === b.revision && a.value.equals(b.value);

/** A key comes before all others that begin with it. */
async function rowAt(store: Readable, key: string, revision: number): Promise<Row | undefined> {
  const { rows } = await store.list(key, { revision, limit: 1 });
  return rows[0]?.key === key ? rows[0] : undefined;
}

async function* rowsAt(store: Readable, revision: number): AsyncGenerator<Row, undefined> {
  let after: string | undefined;
  for (let more = true; more; ) {
    const page = await store.list('', { revision, limit: PAGE_ROWS, after });
    yield* page.rows;
    more = page.more;
    after = page.rows.at(-1)?.key;
  }
  return undefined;
}
