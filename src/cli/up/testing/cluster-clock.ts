/** The clock of a cluster: that of the machine, or one that its users move. */

import type { Handle } from '../../../api/call.ts';
import { Activity } from '../../../base/event-loop/activity.ts';
import { type Clock, ControlledClock } from '../../../base/time/clock.ts';
import { ChangeCounter } from '../../../server/objects/cache/change-counter.ts';
import type { Store } from '../../../store/store.ts';
import type { TestingFlags } from './flags.ts';

export interface ManualClock {
  readonly clock: ControlledClock;
  /** Resolves when nothing happens any more until the clock moves. */
  idle(): Promise<void>;
  /** Counts calls, to know that. */
  readonly intercept: (handle: Handle) => Handle;
  /** After a change in the store, clients get the time to react to it. */
  follow(store: Store, revision: number): void;
}

/** Starts at the time of the machine; undefined unless a manual clock is asked for. */
export function manualClock(
  { clock: choice }: Partial<Pick<TestingFlags, 'clock'>>,
  machine: Clock,
): ManualClock | undefined {
  if (choice !== 'manual') return undefined;
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
