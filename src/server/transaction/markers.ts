import type { Store, Write } from '../../store/store.ts';

/** The prefix of rows that are no objects, such as which release put something in order. */
const PREFIX = '/quarterdeck/';

/** Writes rows that are no objects, all or none. Resolves with the revision; rejects with the store's errors. */
export async function commitMarkers(store: Pick<Store, 'commit'>, markers: readonly Write[]): Promise<number> {
  for (const marker of markers) checkMarker(marker);
  return store.commit(markers);
}

/** Throws when a row could be an object: those are written through a transaction. */
export function checkMarker({ key }: Write): void {
  if (!key.startsWith(PREFIX)) throw new Error(`${key} is not a marker`);
}
