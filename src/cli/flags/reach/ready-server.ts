/** The server that a command uses: the one of the kubeconfig, or another one when that is gone. */
import { type Clock, systemClock } from '../../../base/time/clock.ts';
import type { Connection } from '../../../client/kubeconfig/kubeconfig.ts';
import { httpsTransport } from '../../../client/transport/http/https-transport.ts';
import { bestReady, UsedServer } from '../../../client/transport/http/used-server.ts';
import { knownServers } from './known-servers.ts';

const READY_TIMEOUT_MS = 3_000;

/** Resolves with how to reach the API server; when none of the servers is ready, with the one of the kubeconfig. */
export async function withReadyServer(connection: Connection): Promise<Connection> {
  return readyOf(connection, await knownServers(connection), systemClock);
}

export async function readyOf(connection: Connection, known: readonly string[], clock: Clock): Promise<Connection> {
  const others = known.filter((server) => server !== connection.server);
  if (others.length === 0) return connection;
  const candidates = [connection.server, ...others].map(
    (server) => new UsedServer(server, httpsTransport({ ...connection, server, clock })),
  );
  try {
    const found = await bestReady(candidates, { clock, timeoutMs: READY_TIMEOUT_MS });
    return found ? { ...connection, server: found.server } : connection;
  } finally {
    for (const each of candidates) each.close();
  }
}
