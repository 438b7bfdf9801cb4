/** Records which releases run a cluster: their minimum level, and the oldest of them. */

import { compareReleases, minorOf, type Release } from '../../../api/release.ts';
import { ReconcileLoop } from '../../../base/reconcile/reconcile-loop.ts';
import type { Server } from '../../../server/index.ts';
import { LEASE_DURATION_MS } from '../../../server/upkeep/peers/lease.ts';
import type { Store } from '../../../store/index.ts';
import type { Tools } from '../../context.ts';
import { type ClusterContent, changeClusterRow } from './cluster-row.ts';
import { listServers } from './join-servers.ts';

export interface RecordOptions extends Tools {
  readonly store: Pick<Store, 'get' | 'commit'>;
  readonly server: Pick<Server, 'direct' | 'others'>;
  readonly release: Release;
}

/**
 * Keeps the row of the cluster as its servers come and go, until the signal is aborted. It runs on the leader, but is safe
 * anywhere: the row is read before the leases, and written only while no server that joins has written it since.
 */
export async function keepReleaseRecorded(options: RecordOptions, signal: AbortSignal): Promise<void> {
  const { server, clock, random, log } = options;
  const loop = new ReconcileLoop({
    clock,
    random,
    log,
    failure: 'the release of the servers could not be recorded',
    reconcile: () => record(options),
    backoff: { base: LEASE_DURATION_MS, max: LEASE_DURATION_MS, jitter: 0 },
  });
  const stopListening = server.others?.onChange(() => loop.add(RELEASE));
  loop.add(RELEASE);
  await loop.run(signal);
  stopListening?.();
}

/** The only key of the loop. */
const RELEASE = 'release';

async function record({ store, server, release, log }: RecordOptions): Promise<void> {
  let raised: ClusterContent | undefined;
  await changeClusterRow(store, async (row) => {
    const living = server.others ? (await listServers(server)).map((each) => each.release) : [release];
    const next = recorded(row, living);
    raised = next && next.level > row.level ? next : undefined;
    return next;
  });
  if (raised) log.info('the minimum level of servers has risen', { level: raised.level, release: raised.release });
}

/**
 * Returns what the row must say while these servers live; undefined when it does. The minimum level never falls, and stays
 * while a server lives that does not say its release.
 */
export function recorded(row: ClusterContent, living: readonly (Release | undefined)[]): ClusterContent | undefined {
  const known = living.filter((each) => each !== undefined);
  if (known.length < living.length) return undefined;
  // One of a lower level has joined by mistake, and is about to be rejected.
  const [oldest] = known.filter(({ level }) => level >= row.level).sort(compareReleases);
  if (!oldest) return undefined;
  const next = {
    ...row,
    level: oldest.level,
    release: minorOf(oldest.version) ?? row.release,
  };
  return next.level === row.level && next.release === row.release ? undefined : next;
}
