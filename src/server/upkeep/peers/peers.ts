import type { Handle } from '../../../api/call.ts';
import { compareReleases } from '../../../api/release.ts';
import { deepEqual } from '../../../base/json/tree.ts';
import { sleep } from '../../../base/time/clock.ts';
import { Lease } from '../../../kinds/groups/coordination/lease.ts';
import { Endpoints } from '../../../kinds/groups/core/service/endpoints.ts';
import { EndpointSlice } from '../../../kinds/groups/discovery/endpoint-slice.ts';
import type { Kind, KubeObject } from '../../../kinds/kind.ts';
import type { Cache } from '../../objects/cache/cache.ts';
import { type OwnObject, put, remove } from '../own-objects.ts';
import { Upkeep, type UpkeepPorts } from '../upkeep.ts';
import { endpointsFor, isFurtherSlice, NAMESPACE, SERVICE, type ServerAddress, slicesFor } from './endpoints.ts';
import {
  holderOf,
  LEASE_NAMESPACE,
  type LeasedServer,
  leaseName,
  leaseOf,
  RENEW_INTERVAL_MS,
  readLease,
  type ServerIdentity,
} from './lease.ts';

export interface PeersOptions {
  readonly identity: ServerIdentity;
  readonly handle: Handle;
  readonly core: UpkeepPorts;
}

/** The other servers on the store, which this one knows by their leases. */
export interface OtherServers {
  /** The holder in this server's own lease. */
  readonly holder: string;
  /** Addresses of this server and of all others that live. */
  addresses(): readonly ServerAddress[];
  /** Reports whether a server of an older release is a candidate for this lease of a component. */
  hasOlderCandidate(lease: string): boolean;
  /** Calls the listener when a server has come, gone, or has another release. Returns what removes the listener. */
  onChange(listener: () => void): () => void;
}

interface SeenLease {
  readonly server: LeasedServer;
  readonly durationMs: number;
  readonly resourceVersion: string;
  /** Time when this version was first seen here. */
  readonly seenAt: number;
}

/** Maintains this server's lease, and the endpoints for all leases of servers on the same store. */
export class Peers implements OtherServers {
  readonly #name: string;
  readonly #leases = new Map<string, SeenLease>();
  readonly #upkeep: Upkeep;
  readonly #listeners = new Set<() => void>();
  #isMember = false;
  /** When this server last renewed its own lease, and since when it has done so without a break. */
  #renewedAt = 0;
  #steadySince = 0;

  constructor(private readonly options: PeersOptions) {
    const { core, identity } = options;
    this.#name = leaseName(identity);
    this.#upkeep = new Upkeep(core, {
      failure: 'the lease of this server or the endpoints of the servers could not be written',
      // Endpoints that cannot be written hold up no renewal.
      workers: 2,
      backoff: { base: RENEW_INTERVAL_MS, max: RENEW_INTERVAL_MS, jitter: 0 },
      reconcile: (key) => (key === OWN_LEASE ? this.#renew() : this.#reconcile()),
    });
  }

  get holder(): string {
    return holderOf(this.options.identity);
  }

  addresses(): readonly ServerAddress[] {
    return [this.options.identity.advertise, ...this.#others().map(([, { server }]) => server.address)];
  }

  hasOlderCandidate(lease: string): boolean {
    const { release: own } = this.options.identity;
    return this.#others().some(
      ([
        ,
        {
          server: { release, candidateFor },
        },
      ]) => {
        return release !== undefined && candidateFor.includes(lease) && compareReleases(release, own) < 0;
      },
    );
  }

  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Resolves when this server is among the endpoints. */
  async join(): Promise<void> {
    this.#isMember = true;
    this.#watchLeases();
    await this.#settled();
  }

  /** Resolves when this server is no longer among the endpoints, unless it is the only one or the store is silent. */
  async leave(): Promise<void> {
    this.#isMember = false;
    const left = new AbortController();
    const late = sleep(this.options.core.clock, MAX_LEAVE_MS, left.signal).catch(() => undefined);
    await Promise.race([this.#settled(), late]);
    left.abort();
    this.stop();
  }

  /** Stops without leaving: the lease expires. */
  stop(): void {
    this.#upkeep.close();
  }

  async #settled(): Promise<void> {
    this.#upkeep.loop.add(OWN_LEASE);
    this.#upkeep.loop.add(ENDPOINTS);
    await this.#upkeep.loop.idle();
  }

  async #renew(): Promise<void> {
    const { core, handle, identity } = this.options;
    if (!this.#isMember) {
      this.#leases.delete(this.#name);
      await remove(handle, { ...LEASES, name: this.#name });
      return;
    }
    this.#upkeep.loop.addAfter(OWN_LEASE, RENEW_INTERVAL_MS);
    await put(handle, leaseOf(identity, core.clock.now()));
    const now = this.#now();
    if (now > this.#renewedAt + MAX_BREAK_MS) this.#steadySince = now;
    this.#renewedAt = now;
  }

  /** Time that nobody sets, where there is one. */
  #now(): number {
    const { clock } = this.options.core;
    return clock.monotonic?.() ?? clock.now();
  }

  /**
   * Time left until a lease has expired. A server whose event loop was blocked, or that did not reach the store, has not
   * seen renewals: it waits until it renews its own lease again, and then as long as if it had seen all of them renewed.
   */
  #leftMs({ seenAt, durationMs }: SeenLease): number {
    const now = this.#now();
    if (now > this.#renewedAt + MAX_BREAK_MS) return RENEW_INTERVAL_MS;
    return Math.max(seenAt, this.#steadySince) + durationMs - now;
  }

  #watchLeases(): void {
    const { cache } = this.options.core;
    for (const { at, hub, revision } of entriesOf(cache, Lease, LEASE_NAMESPACE)) this.#see(at.name, hub, revision);
    this.#upkeep.follow([Lease], ({ at, entry }) => {
      if (at.namespace !== LEASE_NAMESPACE) return;
      if (entry) this.#see(at.name, entry.hub(Lease) as Lease, entry.revision);
      else if (this.#leases.delete(at.name)) this.#changed();
    });
    this.#upkeep.follow([Endpoints, EndpointSlice], ({ at }) => {
      if (at.namespace === NAMESPACE && at.name.startsWith(SERVICE)) this.#upkeep.loop.add(ENDPOINTS);
    });
  }

  #see(name: string, lease: Lease, revision: number): void {
    const read = readLease(lease);
    if (!read) return;
    const known = this.#leases.get(name);
    const seenAt = this.#now();
    this.#leases.set(name, { ...read, resourceVersion: String(revision), seenAt });
    if (!known || !deepEqual(known.server, read.server)) this.#changed();
  }

  #changed(): void {
    this.#upkeep.loop.add(ENDPOINTS);
    for (const listener of [...this.#listeners]) listener();
  }

  /** Removes expired leases and writes the endpoints of the others. */
  async #reconcile(): Promise<void> {
    const { handle } = this.options;
    for (const [name, lease] of this.#others()) {
      let leftMs = this.#leftMs(lease);
      if (leftMs <= 0) {
        if (await remove(handle, { ...LEASES, name }, lease.resourceVersion)) {
          if (this.#leases.delete(name)) this.#changed();
          continue;
        }
        // It was renewed meanwhile.
        leftMs = lease.durationMs;
      }
      if (this.#isMember) this.#upkeep.loop.addAfter(ENDPOINTS, leftMs);
    }
    await this.#publish();
  }

  #others(): readonly (readonly [string, SeenLease])[] {
    return [...this.#leases].filter(([name]) => name !== this.#name);
  }

  async #publish(): Promise<void> {
    const { handle, core } = this.options;
    const [own, ...others] = this.addresses();
    const servers = this.#isMember ? [own!, ...others] : others;
    // Without any server, clients are better off with addresses that may come back.
    if (servers.length === 0) return;
    const slices = slicesFor(servers);
    await this.#write(Endpoints, endpointsFor(servers));
    for (const slice of slices) await this.#write(EndpointSlice, slice);
    for (const { at, hub } of entriesOf(core.cache, EndpointSlice, NAMESPACE)) {
      const isWanted = slices.some(({ body }) => body.metadata.name === at.name);
      if (isWanted || !isFurtherSlice(hub.metadata.labels)) continue;
      await remove(handle, { apiVersion: 'discovery.k8s.io/v1', plural: 'endpointslices', ...at });
    }
  }

  /** Writes an object unless the cache has it already with the same content. */
  async #write(kind: Kind, object: OwnObject): Promise<void> {
    const { handle, core } = this.options;
    const { metadata, ...content } = object.body;
    const found = core.cache.table(kind).get(NAMESPACE, metadata.name)?.hub(kind) as
      | Record<string, unknown>
      | undefined;
    const isCurrent = found && Object.entries(content).every(([field, value]) => deepEqual(found[field], value));
    if (!isCurrent) await put(handle, object);
  }
}

/** How long a goodbye may take. After that, others take the lease for expired soon. */
const MAX_LEAVE_MS = 3_000;

/** Time without a renewal of its own after which a server does not judge others. */
const MAX_BREAK_MS = 2 * RENEW_INTERVAL_MS;

/** Keys of the loop: the lease of this server, and the endpoints of all servers. */
const OWN_LEASE = 'lease';
const ENDPOINTS = 'endpoints';

const LEASES = { apiVersion: 'coordination.k8s.io/v1', plural: 'leases', namespace: LEASE_NAMESPACE };

function entriesOf<T extends KubeObject>(cache: Pick<Cache, 'table'>, kind: Kind<T>, namespace: string) {
  return cache
    .table(kind)
    .entries(namespace)
    .map((entry) => ({ at: entry.at, revision: entry.revision, hub: entry.hub(kind) }));
}
