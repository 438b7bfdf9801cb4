import { type Change, type Store, StoreCompacted } from '../../src/store/index.ts';

/** History from a revision on, or from the oldest that is left. */
export async function oldestChanges(store: Store, after: number, through: number) {
  try {
    return { after, changes: await changesAfter(store, after, through) };
  } catch (error) {
    if (!(error instanceof StoreCompacted)) throw error;
    return { after: error.oldest, changes: await changesAfter(store, error.oldest, through) };
  }
}

/** Resolves when a change at `through` was received, or none can be. */
export async function changesAfter(store: Store, after: number, through: number): Promise<Change[]> {
  if (after >= through) return [];
  const changes: Change[] = [];
  await new Promise<void>((resolve, reject) => {
    const subscription = store.watch(after, {
      changes(batch) {
        changes.push(...batch);
        if ((batch.at(-1)?.revision ?? 0) < through) return;
        subscription.stop();
        resolve();
      },
      closed: (error) => reject(error ?? new Error('the watch was closed')),
    });
  });
  return changes;
}
