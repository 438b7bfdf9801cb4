/** A pod in the queue, with the results of its attempts. */
import type { PodInfo } from '../cluster/pod-info.ts';

/**
 * - `ready`: it is tried when it is first
 * - `backing off`: an event may help, but it failed recently
 * - `unschedulable`: no event has occurred that may help
 * - `gated`: it has scheduling gates
 * - `tried`: it is being scheduled
 */
export type WaitingState = 'ready' | 'backing off' | 'unschedulable' | 'gated' | 'tried';

export class WaitingPod {
  state: WaitingState = 'tried';
  attempts = 0;
  /** Time at which the latest attempt began. */
  triedAt = 0;
  /** Time at which it entered its current state, and its number in that order. */
  since = 0;
  order = 0;
  /** The earliest time of the next attempt. */
  notBefore = 0;
  /** The plugins that rejected it; empty when there was no node. */
  rejectedBy: ReadonlySet<string> = NO_PLUGINS;

  constructor(public info: PodInfo) {}
}

const NO_PLUGINS: ReadonlySet<string> = new Set();
