import { type Row, type Store, StoreDamaged, type Write } from '../../../../store/store.ts';

/** The prefix of rows that are not objects, such as the definitions that wrote the objects of a table. */
const PREFIX = '/quarterdeck/';

/** Reads a row that is not an object. A damaged one counts as missing, because its content can be recomputed. */
export async function readMarker(store: Pick<Store, 'get'>, key: string): Promise<Row | undefined> {
  try {
    return await store.get(key);
  } catch (error) {
    if (error instanceof StoreDamaged) return undefined;
    throw error;
  }
}

/** Throws when a row could be an object: those must be written through a transaction. */
export function checkMarker({ key }: Write): void {
  if (!key.startsWith(PREFIX)) throw new Error(`${key} is not a marker`);
}
