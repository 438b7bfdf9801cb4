/** Notices that other servers use a store that is about to be replaced. */
import { type Clock, sleep } from '../../base/time/clock.ts';
import type { Store } from '../store.ts';

export interface ForeignWrites {
  /** Rejects when something was written since. */
  check(): void;
  stop(): void;
}

/** Each server renews its lease every second. */
const OBSERVED_MS = 3_000;

/** Resolves after a while in which nobody has written. The caller does not write. */
export async function observeForeignWrites(store: Store, clock: Clock): Promise<ForeignWrites> {
  let problem: Error | undefined;
  const subscription = store.watch(await store.revision(), {
    changes: ([first]) => {
      problem ??= new Error(`another program has just written ${first?.key}`);
    },
    closed: (error) => {
      problem ??= error;
    },
  });
  const check = () => {
    if (problem) throw problem;
  };
  try {
    await sleep(clock, OBSERVED_MS);
    check();
  } catch (error) {
    subscription.stop();
    throw error;
  }
  return { check, stop: () => subscription.stop() };
}
