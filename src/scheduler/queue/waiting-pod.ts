/** A pod that wants a node, and what became of its tries. */
import type { PodInfo } from '../cluster/pod-info.ts';

/**
 * - `ready`: it is tried as soon as it is its turn
 * - `backing off`: something happened that may help, but it failed a moment ago
 * - `unschedulable`: nothing has happened that could help
 * - `gated`: it is not to be tried
 * - `tried`: it is being given a node
 */
export type WaitingState = 'ready' | 'backing off' | 'unschedulable' | 'gated' | 'tried';

export class WaitingPod {
  info: PodInfo;
  state: WaitingState = 'tried';
  attempts = 0;
  /** When it came to its present place in the line, and as which of all. */
  since = 0;
  order = 0;
  /** Not before this it is tried again. */
  notBefore = 0;
  /** Who refused it; nobody, where there was no node. */
  refusedBy: ReadonlySet<string> = NOBODY;

  constructor(info: PodInfo) {
    this.info = info;
  }
}

const NOBODY: ReadonlySet<string> = new Set();
