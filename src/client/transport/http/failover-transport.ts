/**
 * A transport to the servers of one cluster. It uses one of them, and moves to another when that one does not answer or is not
 * ready: connections to the former one are closed, so that calls and watches begin anew. Clients spread over the servers by chance,
 * and spread again, at different times, when a server has come back.
 */

import { ApiError } from '../../../api/errors.ts';
import type { Random } from '../../../base/random.ts';
import { type Clock, sleep, type Timer } from '../../../base/time/clock.ts';
import type { Verb } from '../../../kinds/kind.ts';
import type { ClientTools } from '../../client.ts';
import type { Connection } from '../../kubeconfig/kubeconfig.ts';
import { wasNeverSent } from '../../status-error.ts';
import type { Request, Transport } from '../transport.ts';
import { bestReady, type ServerTransport, UsedServer } from './used-server.ts';

type Identity = { readonly cert: string; readonly key: string };

export interface FailoverOptions extends Omit<ClientTools, 'client'> {
  /** The URL that the client was given. When it is none of the servers, it is used only while none of those is ready. */
  readonly given: string;
  /** URLs of the servers that are known from before. */
  readonly known: readonly string[];
  readonly identity: Pick<Connection, 'cert' | 'key'>;
  readonly connect: (server: string, identity: Pick<Connection, 'cert' | 'key'>) => ServerTransport;
  /** Uses the given URL whenever it can, as for a person who has chosen it. Default: the servers, by chance. */
  readonly prefersGiven?: boolean;
  /** Called when a server is no longer used because it is gone or not ready. */
  readonly onLost?: (server: string) => void;
}

export interface FailoverTransport extends Transport {
  /** URL of the server that is used now. */
  readonly server: string;
  /** The servers that there are now. The one that is used stays until it does not answer, or it is time to move to a better one. */
  use(servers: readonly string[]): void;
  /** Resolves with true when another server is used instead, for those who have lost their own connection to one. */
  isReplaced(server: string): Promise<boolean>;
  /** Replaces the client certificate from the next connection on. */
  renew(identity: Identity): void;
  close(): void;
}

/** A server that is gone without a word is noticed within this interval and the timeouts of `healthOf`. */
const PROBE_INTERVAL_MS = 1_000;
const PROBE_TIMEOUT_MS = 1_000;

/** Time after which a server is left that answers and is not ready: when etcd elects a leader, all servers are so for seconds. */
const MAX_UNREADY_MS = 5_000;

/** Time after which a client returns to a better server, and the time over which the clients of a cluster spread it. */
const MIN_RETURN_MS = 10_000;
const RETURN_SPREAD_MS = 50_000;

const READS: ReadonlySet<Verb> = new Set(['get', 'list', 'watch']);

export function failoverTransport(options: FailoverOptions): FailoverTransport {
  const { given, connect, clock, random, log, prefersGiven = false, onLost } = options;
  const ranking = new ServerRanking(random);
  let { identity } = options;
  let servers = order(options.known);
  let current = open(servers[0] ?? given);
  let checking: Promise<void> | undefined;
  let timer: Timer | undefined;
  let returning: Timer | undefined;
  /** When the current server was found not to be ready; undefined: it is. */
  let unreadySince: number | undefined;
  let isLearned = false;
  let isClosed = false;
  wait();

  function order(urls: readonly string[]): readonly string[] {
    const ranked = ranking.sort(urls);
    return prefersGiven ? [given, ...ranked.filter((server) => server !== given)] : ranked;
  }

  function open(server: string): UsedServer {
    return new UsedServer(server, connect(server, identity));
  }

  /** All servers, best first. */
  function all(): readonly string[] {
    return servers.includes(given) ? servers : [...servers, given];
  }

  /** Servers that are better than the one that is used. There is nothing to balance with a single one. */
  function better(): readonly string[] {
    const index = servers.indexOf(current.server);
    return servers.length < 2 ? [] : index < 0 ? servers : servers.slice(0, index);
  }

  function wait(): void {
    timer?.cancel();
    if (isClosed) return;
    if (all().length > 1) timer = clock.timer(PROBE_INTERVAL_MS, () => void check());
    if (better().length === 0) {
      returning?.cancel();
      returning = undefined;
    } else {
      returning ??= clock.timer(MIN_RETURN_MS + random.int(RETURN_SPREAD_MS), () => void goBack());
    }
  }

  /** One at a time: each may replace the server. */
  function exclusively(work: () => Promise<void>): Promise<void> {
    checking ??= work().finally(() => {
      checking = undefined;
      wait();
    });
    return checking;
  }

  /** Resolves when the current server is known to be ready, or another one is used, or there is no better one. */
  const check = () => exclusively(probe);

  async function probe(): Promise<void> {
    const others = all().filter((server) => server !== current.server);
    if (others.length === 0) return;
    const health = await healthOf(current.transport, clock);
    if (health === 'ready') unreadySince = undefined;
    else unreadySince ??= clock.now();
    if (unreadySince === undefined || (health === 'unready' && clock.now() - unreadySince < MAX_UNREADY_MS)) return;
    const found = await firstOf(others);
    if (!found) return;
    log.warn('the server does not answer or is not ready; another one is used', {
      server: current.server,
      next: found.server,
    });
    const former = replaceBy(found);
    former.close();
    onLost?.(former.server);
  }

  function replaceBy(found: UsedServer): UsedServer {
    const former = current;
    current = found;
    unreadySince = undefined;
    return former;
  }

  /** Moves to a better server that is ready. Calls that run end where they are; watches go on at the other server. */
  function goBack(): Promise<void> {
    returning = undefined;
    return exclusively(async () => {
      const found = await firstOf(better());
      if (!found) return;
      log.info('another server is used, to balance their load', { server: current.server, next: found.server });
      replaceBy(found).retire();
    });
  }

  /** Resolves with a connection to the first of the servers that is ready; undefined: none is, or this transport was closed. */
  async function firstOf(urls: readonly string[]): Promise<UsedServer | undefined> {
    const candidates = urls.map(open);
    const found = await bestReady(candidates, { clock, timeoutMs: PROBE_TIMEOUT_MS });
    for (const each of candidates) if (each !== found || isClosed) each.close();
    return isClosed ? undefined : found;
  }

  /** Resolves with true when another server is used than the one with which something failed. */
  async function isMoved(used: UsedServer, error: unknown): Promise<boolean> {
    if (isClosed || !isLost(error)) return false;
    if (current === used) await check();
    return current !== used;
  }

  /** Repeats at another server what has certainly changed nothing. */
  async function withFailover<T>({ verb }: Request, work: (used: UsedServer) => Promise<T>): Promise<T> {
    const used = current;
    try {
      return await work(used);
    } catch (error) {
      if (!(await isMoved(used, error))) throw error;
      if (!READS.has(verb) && !wasNeverSent(error)) throw error;
      return work(current);
    }
  }

  return {
    get server() {
      return current.server;
    },
    call: (request) => withFailover(request, (used) => used.call(request)),
    watch: (request) => withFailover(request, (used) => used.watch(request, (error) => isMoved(used, error))),
    use(next) {
      servers = order(next);
      // Those that have been told of a server together have not begun together.
      if (!isLearned && better().length > 0) void goBack();
      isLearned = true;
      wait();
    },
    async isReplaced(server) {
      if (current.server === server && !isClosed) await check();
      return current.server !== server;
    },
    renew(renewed) {
      identity = renewed;
      current.transport.renew(renewed);
    },
    close() {
      isClosed = true;
      timer?.cancel();
      returning?.cancel();
      current.close();
    },
  };
}

type Health = 'ready' | 'unready' | 'gone';

/** Time in which a ready server answers, and the one after which a server has found out that its store does not. */
const READY_AFTER_MS = 500;
const UNREADY_AFTER_MS = 2_500;

/** A server that is late may wait for its store, which takes longer than to find out that the server is gone. */
async function healthOf(transport: ServerTransport, clock: Clock): Promise<Health> {
  const readiness = transport.ready(UNREADY_AFTER_MS).then(
    () => 'ready' as const,
    (error) => (isLost(error) ? 'gone' : 'unready'),
  );
  const answered = new AbortController();
  const late = sleep(clock, READY_AFTER_MS, answered.signal).catch(() => undefined);
  const early = await Promise.race([readiness, late]);
  answered.abort();
  if (early) return early;
  const isAlive = transport.ready(PROBE_TIMEOUT_MS, 'without-store').then(
    () => true,
    () => false,
  );
  const first = await Promise.race([readiness, isAlive]);
  if (first === false) return 'gone';
  if (first !== true) return first;
  return (await readiness) === 'ready' ? 'ready' : 'unready';
}

/** Reports whether the server may be gone: it did not answer, or the connection broke. */
function isLost(error: unknown): boolean {
  return (
    error instanceof ApiError && ['ServiceUnavailable', 'Timeout'].includes(error.reason) && error.cause !== undefined
  );
}

const MAX_WEIGHT = 2 ** 31;

/**
 * The order in which one client prefers the servers of a cluster. Each client draws a weight for each server: clients spread over
 * the servers, those of a server that is gone spread over the others, and no other client moves when a server comes or goes.
 */
class ServerRanking {
  /** Weights by URL. They stay when a server is gone, so that its clients return to it. */
  readonly #weights = new Map<string, number>();

  constructor(private readonly random: Random) {}

  /** Returns the servers, best first. */
  sort(servers: Iterable<string>): readonly string[] {
    // Weights are drawn in an order that does not depend on the caller's.
    const all = [...new Set(servers)].sort();
    for (const each of all) if (!this.#weights.has(each)) this.#weights.set(each, this.random.int(MAX_WEIGHT));
    return all.sort((a, b) => this.#weights.get(b)! - this.#weights.get(a)!);
  }
}
