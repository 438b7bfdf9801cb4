import { Histogram } from '../../../base/metrics/histogram.ts';
import { head } from '../../../base/metrics/text.ts';
import type { Clock } from '../../../base/time/clock.ts';
import type { Store } from '../../../store/store.ts';

const BUCKETS_SECONDS = [
  0.005, 0.025, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1, 1.25, 1.5, 2, 3, 4, 5, 6, 8, 10, 15, 20, 30, 45, 60,
];
const DURATIONS = 'etcd_request_duration_seconds';

/** Measures commits to the store, under the name that dashboards use, whichever store it is. */
export class StoreMetrics {
  readonly #commits = new Histogram(BUCKETS_SECONDS);

  /** Wraps a store to measure its commits. */
  measured(store: Store, clock: Clock): Store {
    return {
      revision: () => store.revision(),
      get: (key) => store.get(key),
      list: (prefix, options) => store.list(prefix, options),
      watch: (after, watcher) => store.watch(after, watcher),
      compact: (revision) => store.compact(revision),
      close: () => store.close(),
      commit: async (writes, conditions) => {
        const began = clock.now();
        try {
          return await store.commit(writes, conditions);
        } finally {
          this.#commits.observe((clock.now() - began) / 1000);
        }
      },
    };
  }

  *lines(): Generator<string> {
    yield head(DURATIONS, 'histogram', 'Time that a commit to the store takes, in seconds.');
    yield* this.#commits.lines(DURATIONS, 'operation="txn",type="*"');
  }
}
