/** The clock of a cluster whose users move it. */

import type { Handle } from '../../api/call.ts';
import { Activity } from '../../base/event-loop/activity.ts';
import { type Clock, ControlledClock } from '../../base/time/clock.ts';
import { ChangeCounter } from '../../server/objects/cache/change-counter.ts';
import type { Store } from '../../store/store.ts';

export interface ManualClock {
  readonly clock: ControlledClock;
  /** Resolves when nothing happens any more until the clock moves. */
  idle(): Promise<void>;
  /** Counts calls, to know that. */
  readonly intercept: (handle: Handle) => Handle;
  /** After a change in the store, clients get the time to react to it. */
  follow(store: Store, revision: number): void;
}

/** Starts at the time of the machine. */
export function manualClock(machine: Clock): ManualClock {
  const activity = new Activity(machine);
  return {
    clock: new ControlledClock(machine.now()),
    idle: () => activity.idle(),
    intercept: (handle) => activity.counted(handle),
    follow(store, revision) {
      const counter = new ChangeCounter(store, revision);
      activity.changes = () => counter.count;
    },
  };
}
