/** Runs the controllers in one of several managers: the one that holds a lease of the host cluster. */
import { hostname } from 'node:os';
import type { Logger } from '../../../base/log.ts';
import type { Random } from '../../../base/random.ts';
import type { Clock } from '../../../base/time/clock.ts';
import type { Client } from '../../../client/client.ts';
import { runWhileLeader } from '../../../client/leader-election.ts';

const LEASE = 'federation-controller-manager';

interface ElectionOptions {
  readonly leaderElect: boolean;
  /** Of the host cluster. */
  readonly host: Client;
  readonly namespace: string;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  readonly signal: AbortSignal;
}

/** A container that starts again has the identity of its pod, and goes on without waiting for its own lease to expire. */
export async function elected(options: ElectionOptions, lead: (signal: AbortSignal) => Promise<void>): Promise<void> {
  const { leaderElect, host: client, signal, ...rest } = options;
  if (!leaderElect) return lead(signal);
  const { POD_NAME: identity = hostname() } = process.env;
  await runWhileLeader({ ...rest, client, signal, identity, name: LEASE }, lead);
}
