import type { Store } from '../../store/store.ts';

export interface StoreGate {
  /** The store behind the gate. */
  readonly store: Store;
  /** Lets writes wait until the function that it returns is called. */
  stall(): () => void;
}

/** Puts a gate in front of a store, at which writes can be made to wait. Reads go on. */
export function storeGate(behind: Store): StoreGate {
  let stalls = 0;
  let waiting: (() => void)[] = [];
  const store: Store = {
    revision: () => behind.revision(),
    get: (key) => behind.get(key),
    list: (prefix, options) => behind.list(prefix, options),
    async commit(writes, conditions, origin) {
      while (stalls > 0) await new Promise<void>((resolve) => waiting.push(resolve));
      return behind.commit(writes, conditions, origin);
    },
    watch: (after, watcher) => behind.watch(after, watcher),
    compact: (revision) => behind.compact(revision),
    close: () => behind.close(),
  };
  return {
    store,
    stall() {
      let isOver = false;
      stalls++;
      return () => {
        if (isOver) return;
        isOver = true;
        stalls--;
        const ready = waiting;
        waiting = [];
        for (const go of ready) go();
      };
    },
  };
}
