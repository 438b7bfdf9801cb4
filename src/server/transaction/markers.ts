import type { Condition, Store, Write } from '../../store/store.ts';

/** Where rows live that are no objects, such as what a start has already put in order. */
const PREFIX = '/quarterdeck/';

/** A row of the server's own that is no object. */
export interface Marker extends Write {
  readonly key: `${typeof PREFIX}${string}`;
}

/** Writes markers, all or none. Resolves with the revision; rejects with the store's errors. */
export function commitMarkers(
  store: Pick<Store, 'commit'>,
  markers: readonly Marker[],
  conditions?: readonly Condition[],
): Promise<number> {
  return store.commit(markers, conditions);
}
