/**
 * A transport to the servers of one cluster. It uses one of them, and moves to another when that one does not answer or is not
 * ready: connections to the former one are closed, so that calls and watches begin anew.
 */
import { ApiError } from '../../../api/errors.ts';
import type { Logger } from '../../../base/log.ts';
import type { Clock, Timer } from '../../../base/time/clock.ts';
import type { Connection } from '../../kubeconfig/kubeconfig.ts';
import { wasNeverSent } from '../never-sent.ts';
import type { Transport } from '../transport.ts';
import type { HttpsTransport } from './https-transport.ts';

type Identity = { readonly cert: string; readonly key: string };

export interface FailoverOptions {
  /** URLs; the first one is used until it does not answer. */
  readonly servers: readonly [string, ...string[]];
  readonly identity: Pick<Connection, 'cert' | 'key'>;
  readonly connect: (server: string, identity: Pick<Connection, 'cert' | 'key'>) => ServerTransport;
  readonly clock: Clock;
  readonly log: Logger;
}

export type ServerTransport = Pick<HttpsTransport, 'call' | 'watch' | 'ready' | 'renew' | 'close'>;

export interface FailoverTransport extends Transport {
  /** URL of the server that is used now. */
  readonly server: string;
  /** The servers that there are now. The one that is used stays until it does not answer. */
  use(servers: readonly string[]): void;
  /** Replaces the client certificate from the next connection on. */
  renew(identity: Identity): void;
  close(): void;
}

/** A server that is gone without a word is noticed within an interval and a timeout. */
const PROBE_INTERVAL_MS = 1_000;
const PROBE_TIMEOUT_MS = 1_000;

export function failoverTransport(options: FailoverOptions): FailoverTransport {
  const { connect, clock, log } = options;
  let { identity } = options;
  let servers = new Set<string>(options.servers);
  let current = open(options.servers[0]);
  let checking: Promise<void> | undefined;
  let timer: Timer | undefined;
  let isClosed = false;
  const others = () => [...servers].filter((server) => server !== current.server);
  wait();

  function open(server: string): { readonly server: string; readonly transport: ServerTransport } {
    return { server, transport: connect(server, identity) };
  }

  function wait(): void {
    timer?.cancel();
    if (others().length > 0 && !isClosed) timer = clock.timer(PROBE_INTERVAL_MS, () => void check());
  }

  /** Resolves when the current server is known to be ready, or another one is used, or there is no better one. */
  function check(): Promise<void> {
    checking ??= probe().finally(() => {
      checking = undefined;
      wait();
    });
    return checking;
  }

  async function probe(): Promise<void> {
    if (others().length === 0 || (await isReady(current.transport))) return;
    const candidates = others().map(open);
    const found = await firstReady(candidates);
    for (const each of candidates) if (each !== found || isClosed) each.transport.close();
    if (!found || isClosed) return;
    log.warn('the server does not answer; another one is used', { server: current.server, next: found.server });
    const former = current;
    current = found;
    former.transport.close();
  }

  async function withFailover<T>(work: (transport: ServerTransport) => Promise<T>): Promise<T> {
    const used = current;
    try {
      return await work(used.transport);
    } catch (error) {
      if (isClosed || !isLost(error)) throw error;
      await check();
      if (current === used || !wasNeverSent(error)) throw error;
      return work(current.transport);
    }
  }

  return {
    get server() {
      return current.server;
    },
    call: (request) => withFailover((transport) => transport.call(request)),
    watch: (request) => withFailover((transport) => transport.watch(request)),
    use(next) {
      servers = new Set(next);
      wait();
    },
    renew(renewed) {
      identity = renewed;
      current.transport.renew(renewed);
    },
    close() {
      isClosed = true;
      timer?.cancel();
      current.transport.close();
    },
  };
}

const isReady = (transport: ServerTransport) =>
  transport.ready(PROBE_TIMEOUT_MS).then(
    () => true,
    () => false,
  );

/** Resolves with the first one to answer, or with undefined. */
function firstReady<T extends { readonly transport: ServerTransport }>(
  candidates: readonly T[],
): Promise<T | undefined> {
  const answers = candidates.map(async (each) => {
    await each.transport.ready(PROBE_TIMEOUT_MS);
    return each;
  });
  return Promise.any(answers).catch(() => undefined);
}

/** Reports whether the server may be gone: it did not answer, or the connection broke. */
function isLost(error: unknown): boolean {
  return (
    error instanceof ApiError && ['ServiceUnavailable', 'Timeout'].includes(error.reason) && error.cause !== undefined
  );
}
