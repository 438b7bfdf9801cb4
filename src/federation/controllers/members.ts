/**
 * Members of the federation: a connection, caches and the health of each. It follows the Cluster objects, checks every
 * cluster regularly, and writes the results to their status.
 */

import { isApiError } from '../../api/errors.ts';
import type { AnyObject, DeepReadonly, KindRef } from '../../api/object-types.ts';
import { whenAborted } from '../../base/event-loop/when-aborted.ts';
import { ReconcileLoop } from '../../base/reconcile/reconcile-loop.ts';
import type { Client } from '../../client/client.ts';
import { CacheLimit } from '../../client/informer/cache-limit.ts';
import type { Informer } from '../../client/informer/informer.ts';
import { InformerFactory } from '../../client/informer/informer-factory.ts';
import { Node } from '../../kinds/groups/core/node/node.ts';
import { Cluster } from '../../kinds/groups/federation/cluster.ts';
import type { MemberHealth } from '../plan/plan-object.ts';
import { clusterStatus, type Probe } from './cluster-status.ts';
import { type FederationTools, inTime } from './tools.ts';

export interface MemberConnection {
  readonly client: Client;
  close(): void;
}

export interface MembersOptions extends FederationTools {
  /** Connects to a cluster with its credentials. Rejects when they cannot be read. */
  readonly connect: (cluster: DeepReadonly<Cluster>, signal: AbortSignal) => Promise<MemberConnection>;
  /** Time between checks of a cluster. */
  readonly periodMs: number;
  readonly timeoutMs: number;
  /** A cluster that has not answered for this long is down: others take over its replicas. */
  readonly downAfterMs: number;
  /** Limits watches of members, so that dead connections are noticed. */
  readonly watchSeconds?: number;
  /** Maximum memory for the objects of a member; default: 512 MiB. A member with more is not ready. */
  readonly maxCacheBytes?: number;
}

/** Called when a member came or went, or its health, labels, zones or region have changed. */
type MemberListener = (member: Member) => void;

/** Number of nodes that are read to find the zones of a cluster. */
const MAX_NODES = 500;
/** Limit for the objects of a member: several times those that a large cluster has of the propagated kinds. */
const MAX_CACHE_BYTES = 512 * 1024 * 1024;

export class Members {
  readonly #members = new Map<string, Member>();
  readonly #listeners = new Set<MemberListener>();
  readonly #ended = new Set<Promise<void>>();

  constructor(private readonly options: MembersOptions) {}

  get all(): readonly Member[] {
    return [...this.#members.values()];
  }

  /** Returns a function that ends the notifications. */
  onChange(listener: MemberListener): () => void {
    this.#listeners.add(listener);
    for (const member of this.#members.values()) listener(member);
    return () => this.#listeners.delete(listener);
  }

  /** Follows the clusters until the signal is aborted; resolves when the known clusters are members. */
  async start(): Promise<void> {
    const clusters = this.options.informers.of<Cluster>(Cluster);
    clusters.onChange(({ type, object }) => this.#follow(object, type === 'delete'));
    await Promise.race([clusters.synced, whenAborted(this.options.signal)]);
  }

  /** Resolves after the signal, when nothing is in progress. */
  async stopped(): Promise<void> {
    await Promise.all([...this.#ended]);
  }

  #follow(cluster: DeepReadonly<Cluster>, isGone: boolean): void {
    const name = cluster.metadata.name ?? '';
    const known = this.#members.get(name);
    if (known && !isGone && isSameConnection(known.cluster, cluster)) {
      const before = known.cluster;
      known.cluster = cluster;
      if (!isSamePlace(before, cluster)) this.#notify(known);
      return;
    }
    if (known) {
      this.#members.delete(name);
      known.stop();
      this.#notify(known);
    }
    if (isGone) return;
    const member = new Member(cluster, this.options, () => this.#notify(member));
    this.#members.set(name, member);
    const ended = member.run().finally(() => this.#ended.delete(ended));
    this.#ended.add(ended);
    this.#notify(member);
  }

  #notify(member: Member): void {
    if (this.options.signal.aborted) return;
    for (const listener of this.#listeners) listener(member);
  }
}

/** Reports whether the connection to a cluster is unchanged. */
function isSameConnection(a: DeepReadonly<Cluster>, b: DeepReadonly<Cluster>): boolean {
  return a.metadata.uid === b.metadata.uid && JSON.stringify(a.spec) === JSON.stringify(b.spec);
}

/** Reports whether labels, zones and region are the same: they decide where objects go, and their names. */
function isSamePlace(a: DeepReadonly<Cluster>, b: DeepReadonly<Cluster>): boolean {
  const placeOf = ({ metadata, status }: DeepReadonly<Cluster>) =>
    JSON.stringify([metadata.labels, status?.zones, status?.region]);
  return placeOf(a) === placeOf(b);
}

export class Member {
  readonly #end = new AbortController();
  readonly #since: number;
  readonly #limit: CacheLimit;
  #connection: MemberConnection | undefined;
  #informers: InformerFactory | undefined;
  #isAnswering = false;
  #answeredAt: number | undefined;
  #isStopped = false;
  /** Health after the last check. */
  #health: MemberHealth;

  constructor(
    /** Cluster as the federation has it now. */
    public cluster: DeepReadonly<Cluster>,
    private readonly options: MembersOptions,
    private readonly changed: () => void,
  ) {
    this.#since = options.clock.now();
    this.#limit = new CacheLimit(options.maxCacheBytes ?? MAX_CACHE_BYTES);
    this.#health = this.health;
  }

  get name(): string {
    return this.cluster.metadata.name ?? '';
  }

  /** True when it has left the federation. */
  get isStopped(): boolean {
    return this.#isStopped;
  }

  /** Client; undefined until there is a connection. */
  get client(): Client | undefined {
    return this.#connection?.client;
  }

  /** The cache of a kind; undefined until there is a connection. */
  informer(kind: KindRef<AnyObject>): Informer<AnyObject> | undefined {
    return this.#informers?.of(kind);
  }

  /** Stops the cache of a kind that is no longer propagated. */
  async forget(kind: KindRef): Promise<void> {
    await this.#informers?.stop(kind);
  }

  get health(): MemberHealth {
    if (this.#isAnswering) return 'ready';
    const silentFor = this.options.clock.now() - (this.#answeredAt ?? this.#since);
    if (silentFor >= this.options.downAfterMs) return 'down';
    return this.#answeredAt === undefined ? 'unknown' : 'away';
  }

  /** Time until a cluster that does not answer counts as down, in milliseconds. */
  get downAfterMs(): number {
    const { clock, downAfterMs } = this.options;
    return Math.max(0, (this.#answeredAt ?? this.#since) + downAfterMs - clock.now());
  }

  stop(): void {
    this.#isStopped = true;
    this.#end.abort();
  }

  /** Checks the cluster until it leaves the federation. */
  async run(): Promise<void> {
    const { clock, random, signal, periodMs, log } = this.options;
    const stop = () => this.#end.abort();
    if (signal.aborted) stop();
    signal.addEventListener('abort', stop, { once: true });
    const loop = new ReconcileLoop({
      clock,
      random,
      log,
      backoff: { base: periodMs, max: periodMs, jitter: 0 },
      failure: 'the status of a cluster could not be written',
      isExpected: (error) => isApiError(error, 'NotFound'),
      reconcile: async (name) => {
        await this.#check(this.#end.signal);
        loop.addAfter(name, periodMs);
      },
    });
    loop.add(this.name);
    try {
      await loop.run(this.#end.signal);
    } finally {
      signal.removeEventListener('abort', stop);
      // The caches do not outlive the checks, which tell if they are valid.
      stop();
      await this.#informers?.stopped();
      this.#connection?.close();
    }
  }

  async #check(ended: AbortSignal): Promise<void> {
    const { clock, log } = this.options;
    const probe = await this.#probe(ended);
    if (ended.aborted) return;
    this.#isAnswering = 'nodes' in probe;
    if (this.#isAnswering) this.#answeredAt = clock.now();
    else if (this.#health === 'ready') log.warn('a cluster is not ready', { cluster: this.name, ...probe });
    if (this.health !== this.#health) this.changed();
    this.#health = this.health;
    await this.#writeStatus(probe, ended);
  }

  /** A list of nodes shows that the cluster answers and accepts the credentials. Its objects must be known, too. */
  async #probe(ended: AbortSignal): Promise<Probe> {
    const { clock, timeoutMs } = this.options;
    const late = new Error(`no answer within ${timeoutMs / 1000} s`);
    try {
      return await inTime({ clock, signal: ended }, { ms: timeoutMs, late }, async (signal) => {
        this.#connection ??= await this.#connect(signal);
        const { items: nodes } = await this.#connection.client.of(Node).list({ limit: MAX_NODES, signal });
        if (!this.#limit.takeExceeded()) return { nodes };
        return { error: new Error(this.#limit.message), isReachable: true };
      });
    } catch (error) {
      return { error: error as Error };
    }
  }

  async #connect(signal: AbortSignal): Promise<MemberConnection> {
    const { connect, clock, random, log, watchSeconds } = this.options;
    const connection = await connect(this.cluster, signal);
    this.#informers = new InformerFactory({
      client: connection.client,
      clock,
      random,
      log: log.with({ cluster: this.name }),
      signal: this.#end.signal,
      watchSeconds,
      limit: this.#limit,
    });
    return connection;
  }

  async #writeStatus(probe: Probe, signal: AbortSignal): Promise<void> {
    const { client, clock } = this.options;
    const before = this.cluster;
    const status = clusterStatus(before.status, probe, clock.now());
    if (status === before.status) return;
    this.cluster = await client.of(Cluster).patchStatus(this.name, { type: 'merge', changes: { status } }, { signal });
    if (!isSamePlace(before, this.cluster)) this.changed();
  }
}
