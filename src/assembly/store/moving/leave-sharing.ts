/** Removes what only servers that share a store need, and what they would find outdated when they share one again. */
import { SHARED_KEYS, type SharedKeysOptions, shareKeys } from '../../keys/shared-keys.ts';
import { changeClusterRow } from '../releases/cluster-row.ts';

/** For a store that nobody shares, which may be the copy of one that servers shared. Does nothing when it was done before. */
export async function leaveSharing(options: SharedKeysOptions): Promise<void> {
  const { store } = options;
  if (!(await store.get(SHARED_KEYS))) return;
  // Other servers may have replaced keys.
  await shareKeys(options);
  await changeClusterRow(store, (row) => ({ ...row, settings: {} }));
  await store.commit([{ key: SHARED_KEYS, value: null }]);
}
