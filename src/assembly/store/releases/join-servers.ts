/** Rejects a server that has joined others on a shared store, when their releases differ too much. */

import { areCompatible, type Release } from '../../../api/release.ts';
import { type Clock, sleep } from '../../../base/time/clock.ts';
import { createClient } from '../../../client/client.ts';
import { directTransport } from '../../../client/transport/direct-transport.ts';
import { Lease } from '../../../kinds/groups/coordination/lease.ts';
import type { Server } from '../../../server/index.ts';
import { SERVER_USER } from '../../../server/objects/server-user.ts';
import {
  hostPort,
  LEASE_DURATION_MS,
  LEASE_NAMESPACE,
  LEASE_SELECTOR,
  type LeasedServer,
  RENEW_INTERVAL_MS,
  readLease,
} from '../../../server/upkeep/peers/lease.ts';
import type { Store } from '../../../store/index.ts';
import { AssemblyError } from '../../assembly-error.ts';
import { checkRelease } from './check-release.ts';
import { changeClusterRow } from './cluster-row.ts';

export interface JoinOptions {
  readonly store: Pick<Store, 'get' | 'commit'>;
  readonly server: Pick<Server, 'direct' | 'others'>;
  readonly release: Release;
  readonly clock: Clock;
}

export interface ListedServer extends LeasedServer {
  readonly holder: string;
  /** Changes whenever the lease is renewed. */
  readonly renewed: string;
}

/** Lists the servers with a lease, as fresh as the store. */
export async function listServers(server: Pick<Server, 'direct'>): Promise<readonly ListedServer[]> {
  const leases = createClient(directTransport(server.direct(SERVER_USER)))
    .of(Lease)
    .in(LEASE_NAMESPACE);
  const { items } = await leases.list({ labelSelector: LEASE_SELECTOR });
  return items.flatMap((lease) => {
    const read = readLease(lease as Lease);
    const { holderIdentity: holder = '', renewTime: renewed = '' } = lease.spec;
    return read ? [{ ...read.server, holder, renewed }] : [];
  });
}

/** A lease that could not be written at once is tried again each second. */
const MAX_OWN_LEASE_MS = 10 * RENEW_INTERVAL_MS;
/** Time after which the lease of a server that has died is gone. */
const EXPIRED_MS = LEASE_DURATION_MS + 2 * RENEW_INTERVAL_MS;

/**
 * Resolves when all servers may go on beside each other. The order matters: each server writes its lease, then lists those of
 * others, so that of two that join at once one sees the other; then it writes the row of the cluster, so that a leader that
 * has not seen its lease cannot raise the minimum level any more without reading the leases again.
 */
export async function joinServers({ store, server, release, clock }: JoinOptions): Promise<void> {
  const { others } = server;
  if (!others) return;
  const hasOwn = async () => (await listServers(server)).some(({ holder }) => holder === others.holder);
  for (let waited = 0; !(await hasOwn()); waited += RENEW_INTERVAL_MS) {
    if (waited >= MAX_OWN_LEASE_MS) throw new AssemblyError('the lease of this server cannot be written; see the log');
    await sleep(clock, RENEW_INTERVAL_MS);
  }
  const incompatible = async () => (await listServers(server)).filter((other) => !mayMeet(other, release));
  if ((await incompatible()).length > 0) {
    await sleep(clock, EXPIRED_MS);
    const [other] = await incompatible();
    if (other) throw new AssemblyError(tooFarFrom(other, release));
  }
  await changeClusterRow(store, (row) => {
    checkRelease(row, release);
    return row;
  });
}

function mayMeet({ release: other }: LeasedServer, own: Release): boolean {
  return other === undefined || areCompatible(other.version, own.version);
}

function tooFarFrom({ address, release }: LeasedServer, own: Release): string {
  return (
    `the server at ${hostPort(address)} is Quarterdeck ${release?.version}, and this is ${own.version}: servers on one store differ ` +
    'by one minor version at most; bring all of them to the same release first'
  );
}
