/** Other servers of a shared store: they would go on with the old one. */
import { listServers } from '../../../../assembly/store/releases/join-servers.ts';
import { type Clock, sleep } from '../../../../base/time/clock.ts';
import type { Server } from '../../../../server/index.ts';
import { hostPort, LEASE_DURATION_MS, RENEW_INTERVAL_MS } from '../../../../server/upkeep/peers/lease.ts';
import { CliError } from '../../../output/cli-error.ts';

type OwnServer = Pick<Server, 'direct' | 'others'>;

interface Waiting {
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** Tells the user what is waited for. */
  readonly say: (line: string) => void;
}

/** Time after which the lease of a server that has ended is gone. */
const EXPIRED_MS = LEASE_DURATION_MS + 3 * RENEW_INTERVAL_MS;
const CHECK_MS = RENEW_INTERVAL_MS / 4;

/**
 * Resolves when this server is the only one: the lease of one that was removed or killed ends a moment later. Rejects when
 * another one renews its lease.
 */
export async function untilAlone(server: OwnServer, { clock, signal, say }: Waiting): Promise<void> {
  const seen = new Map<string, string>();
  for (let waitedMs = 0; ; waitedMs += CHECK_MS) {
    const others = await othersOf(server);
    const [first] = others;
    if (!first) return;
    const living = others.find(({ holder, renewed }) => (seen.get(holder) ?? renewed) !== renewed);
    if (living || waitedMs > EXPIRED_MS) throw notAlone(living ?? first);
    for (const { holder, renewed } of others) seen.set(holder, renewed);
    if (waitedMs === 0) say(`Waiting for the lease of the server at ${hostPort(first.address)} to end.`);
    await sleep(clock, CHECK_MS, signal);
  }
}

/** Rejects when there is another server. */
export async function checkLeases(server: OwnServer): Promise<void> {
  const [first] = await othersOf(server);
  if (first) throw notAlone(first);
}

async function othersOf(server: OwnServer) {
  return (await listServers(server)).filter(({ holder }) => holder !== server.others?.holder);
}

function notAlone({ address }: Awaited<ReturnType<typeof othersOf>>[number]): CliError {
  return new CliError(
    `another server of the cluster is at ${hostPort(address)}, and only one can move its objects; stop the others first`,
  );
}
