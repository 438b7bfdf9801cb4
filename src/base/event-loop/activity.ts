/** Counts the calls to a server, to find out when everything that happens now has happened. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { type Clock, sleep } from '../time/clock.ts';

/**
 * How many turns of the event loop without a call mean that nothing happens until a timer fires. Components collect work
 * over a few turns: a watch its events, an informer its changes, the scheduler and the nodes their writes.
 */
const QUIET_TURNS = 6;
/** How long to wait for calls that are in progress without anything happening: they may be waiting for another program. */
const MAX_STALL_MS = 50;
/** How long no request may have arrived from the network after a change before the cluster counts as idle. */
const NETWORK_QUIET_MS = 25;
const POLL_MS = 2;

export class Activity {
  /** The clock of the machine, for what comes from outside the process. */
  readonly #machine: Clock;
  #count = 0;
  #inProgress = 0;
  #seenChanges = 0;
  /** Grows with every change that clients may react to over the network; undefined: there are none. */
  changes: (() => number) | undefined;

  constructor(machine: Clock) {
    this.#machine = machine;
  }

  /** Returns the function with its calls counted. */
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

  /** Resolves when nothing happens any more until a timer fires or somebody calls. */
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
      await sleep(this.#machine, POLL_MS);
      stalledMs = this.#count === seen ? stalledMs + POLL_MS : 0;
    }
  }

  /** Resolves after some turns without a call; with whether there were calls before. */
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
