import { type Row, type Store, StoreDamaged, type Write } from '../../../store/store.ts';

/** The prefix of rows that are not objects, such as the release that last migrated data. */
const PREFIX = '/quarterdeck/';

/** Writes rows that are not objects, atomically. Resolves with the revision; rejects with the store's errors. */
export async function commitMarkers(store: Pick<Store, 'commit'>, markers: readonly Write[]): Promise<number> {
  for (const marker of markers) checkMarker(marker);
  return store.commit(markers);
}

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
