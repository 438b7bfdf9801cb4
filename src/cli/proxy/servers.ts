/** The servers of the cluster behind the proxy: the one of the kubeconfig, and when it is gone those that it lists or listed before. */
import { isDeepStrictEqual } from 'node:util';
import { silent } from '../../base/log.ts';
import { systemRandom } from '../../base/random.ts';
import { sleep, systemClock } from '../../base/time/clock.ts';
import { createClient } from '../../client/client.ts';
import { InformerFactory } from '../../client/informer/informer-factory.ts';
import type { Connection } from '../../client/kubeconfig/kubeconfig.ts';
import { failoverTransport } from '../../client/transport/http/failover-transport.ts';
import { httpsTransport } from '../../client/transport/http/https-transport.ts';
import { EndpointSlice } from '../../kinds/groups/discovery/endpoint-slice.ts';
import { SERVERS_SELECTION, serversIn } from '../agent/followed/facts.ts';
import { knownServers, mayUseOthers } from '../flags/reach/known-servers.ts';
import { rememberedServers } from '../flags/reach/remembered-servers.ts';
import type { ServerChoice } from './forward.ts';

/** How long a start waits for the server. */
const FIRST_TIMEOUT_MS = 1_000;

/** Watches end after this time, so that a dead connection is noticed. */
const WATCH_SECONDS = 300;

/** Follows the servers, as far as the user may list them. */
export async function followClusterServers(connection: Connection, onLost: (server: string) => void) {
  const mayOthers = mayUseOthers(connection);
  const remembered = rememberedServers(connection);
  let kept = await knownServers(connection);
  let keeping = Promise.resolve();
  const keep = (found: readonly string[]) => {
    if (isDeepStrictEqual([...found].sort(), kept)) return;
    kept = [...found].sort();
    // Without a place for them, the next proxy knows the server of its kubeconfig alone.
    keeping = keeping.then(() => remembered.keep(found)).catch(() => undefined);
  };
  const signal = new AbortController();
  const servers = failoverTransport({
    given: connection.server,
    known: kept,
    prefersGiven: true,
    identity: connection,
    connect: (server) => httpsTransport({ ...connection, server, clock: systemClock, userAgent: 'qd-proxy' }),
    clock: systemClock,
    random: systemRandom,
    log: silent,
    onLost,
  });
  let known = Promise.resolve();
  if (mayOthers) {
    const informers = new InformerFactory({
      client: createClient(servers),
      clock: systemClock,
      random: systemRandom,
      log: silent,
      signal: signal.signal,
      watchSeconds: WATCH_SECONDS,
    });
    const informer = informers.of(EndpointSlice, SERVERS_SELECTION);
    informer.onChange(() => {
      const found = informer.lister.list().flatMap((each) => serversIn(each as EndpointSlice));
      if (found.length === 0) return;
      servers.use(found);
      keep(found);
    });
    const late = sleep(systemClock, FIRST_TIMEOUT_MS, signal.signal).catch(() => undefined);
    known = Promise.race([informer.synced, late]);
  }
  return {
    servers: servers satisfies ServerChoice,
    /** Resolves when the other servers are known, or the first one has not answered for a while. */
    known,
    async close() {
      signal.abort();
      servers.close();
      await keeping;
    },
  };
}
