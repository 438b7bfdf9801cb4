/** Runs the controllers in one of several managers: the one that holds a lease of the host cluster. */
import type { Tools } from '../../base/tools.ts';
import type { Client } from '../../client/client.ts';
import { runWhileLeader } from '../../client/leader-election/run-while-leader.ts';

const LEASE = 'federation-controller-manager';

export interface ElectionOptions extends Tools {
  readonly leaderElect: boolean;
  /** Client of the host cluster. */
  readonly host: Client;
  readonly namespace: string;
  /** Identity of this manager. A restarted container has that of its pod, and need not wait for its own lease to expire. */
  readonly identity: string;
  readonly signal: AbortSignal;
}

export async function elected(options: ElectionOptions, lead: (signal: AbortSignal) => Promise<void>): Promise<void> {
  const { leaderElect, host: client, signal, ...rest } = options;
  if (!leaderElect) return lead(signal);
  await runWhileLeader({ ...rest, client, signal, name: LEASE }, (term) => lead(term.signal));
}
