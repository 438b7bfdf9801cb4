import type { Change, Store } from '../../../store/store.ts';
import { EPHEMERAL_PREFIXES } from './keys.ts';

/** Counts the changes of objects in a store, except for leases and events. */
export class ChangeCounter {
  count = 0;
  #last: Change | undefined;

  constructor(store: Pick<Store, 'watch'>, revision: number) {
    store.watch(revision, {
      changes: (batch) => {
        for (const change of batch)
          if (!EPHEMERAL_PREFIXES.some((prefix) => change.key.startsWith(prefix))) this.#add(change);
      },
      closed() {},
    });
  }

  /** The last change, in readable form. */
  get last(): string {
    if (!this.#last) return 'none';
    const { key, value, previous } = this.#last;
    return `${!value ? 'the deletion' : previous ? 'an update' : 'the creation'} of ${key.replace('/registry/', '')}`;
  }

  #add(change: Change): void {
    this.count++;
    this.#last = change;
  }
}
