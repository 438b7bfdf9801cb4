/** Makes one piece of work at a time change a store, of this process and of others. */

import { LockHeld, type ProcessLock, takeProcessLock } from '../../../base/programs/process-lock.ts';
import { type Clock, sleep } from '../../../base/time/clock.ts';
import type { StoreLayout } from './layout.ts';

/** Interval for retrying the lock, which is held for a few milliseconds. */
const RETRY_MS = 20;

export class StoreLock {
  #last: Promise<unknown> = Promise.resolve();

  constructor(
    private readonly layout: StoreLayout,
    private readonly clock: Clock,
  ) {}

  run<T>(work: () => Promise<T>): Promise<T> {
    const result = this.#last.then(() => this.#locked(work));
    this.#last = result.catch(() => {});
    return result;
  }

  async #locked<T>(work: () => Promise<T>): Promise<T> {
    const lock = await this.#take();
    try {
      return await work();
    } finally {
      await lock.release();
    }
  }

  async #take(): Promise<ProcessLock> {
    for (;;) {
      try {
        return await takeProcessLock({ path: this.layout.lock(), subject: this.layout.directory });
      } catch (error) {
        if (!(error instanceof LockHeld)) throw error;
        await sleep(this.clock, RETRY_MS);
      }
    }
  }
}
