/** Counts the calls to a server to find out when the cluster is idle. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { type Clock, sleep } from '../time/clock.ts';

/**
 * Turns of the event loop without a call after which nothing happens until a timer fires. Components collect work over
 * a few turns: a watch its events, an informer its changes, the scheduler and the nodes their writes.
 */
const QUIET_TURNS = 6;
/** Timeout for calls in progress without other activity: they may be waiting for another program. */
const MAX_STALL_MS = 50;
/** Time without a network request after a change before the cluster counts as idle. */
const NETWORK_QUIET_MS = 25;
const POLL_MS = 2;

export class Activity {
  #count = 0;
  #inProgress = 0;
  #seenChanges = 0;
  /** Counts the changes that clients may react to over the network; undefined when there are no such clients. */
  changes: (() => number) | undefined;

  constructor(/** Clock of the machine, for activity from outside the process. */ private readonly machine: Clock) {}

  /** Wraps a function so that its calls are counted. */
  counted<Arguments extends unknown[], Result>(
    work: (...parameters: Arguments) => Promise<Result>,
  ): (...parameters: Arguments) => Promise<Result> {
    return async (...parameters) => {
      this.#count++;
      this.#inProgress++;
      try {
        return await work(...parameters);
      } finally {
        this.#inProgress--;
        this.#count++;
      }
    };
  }

  /** Resolves when the cluster is idle: nothing happens until a timer fires or a call arrives. */
  async idle(): Promise<void> {
    let stalledMs = 0;
    for (;;) {
      if (await this.#quietTurns()) stalledMs = 0;
      const isAwaited = (this.changes?.() ?? 0) !== this.#seenChanges;
      const limit = this.#inProgress > 0 ? MAX_STALL_MS : isAwaited ? NETWORK_QUIET_MS : 0;
      if (stalledMs >= limit) {
        this.#seenChanges = this.changes?.() ?? 0;
        return;
      }
      const seen = this.#count;
      await sleep(this.machine, POLL_MS);
      stalledMs = this.#count === seen ? stalledMs + POLL_MS : 0;
    }
  }

  /** Resolves after some turns without a call. The result tells whether there were calls before. */
  async #quietTurns(): Promise<boolean> {
    const start = this.#count;
    let seen = start;
    for (let quiet = 0; quiet < QUIET_TURNS; quiet++) {
      await nextTurn();
      if (this.#count === seen) continue;
      seen = this.#count;
      quiet = -1;
    }
    return seen !== start;
  }
}
