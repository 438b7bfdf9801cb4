import type { Handle } from '../../../api/call.ts';
import { soon } from '../../../base/event-loop/soon.ts';
import { deepEqual } from '../../../base/json/tree.ts';
import type { Logger } from '../../../base/log.ts';
import type { Clock, Timer } from '../../../base/time/clock.ts';
import { Lease } from '../../../kinds/groups/coordination/lease.ts';
import { Endpoints } from '../../../kinds/groups/core/endpoints.ts';
import { EndpointSlice } from '../../../kinds/groups/discovery/endpoint-slice.ts';
import type { Kind, KubeObject } from '../../../kinds/kind.ts';
import type { Cache } from '../../objects/cache/cache.ts';
import type { ChangeRecord } from '../../objects/cache/change-record.ts';
import { type OwnObject, put, remove } from '../own-objects.ts';
import { endpointsFor, isFurtherSlice, NAMESPACE, SERVICE, type ServerAddress, slicesFor } from './endpoints.ts';
import { LEASE_NAMESPACE, leaseName, leaseOf, RENEW_INTERVAL_MS, readLease, type ServerIdentity } from './lease.ts';

export interface PeersOptions {
  readonly identity: ServerIdentity;
  readonly handle: Handle;
  readonly cache: Pick<Cache, 'table'>;
  readonly clock: Clock;
  readonly log: Logger;
}

interface SeenLease {
  readonly server: ServerAddress;
  readonly durationMs: number;
  readonly resourceVersion: string;
  /** Time when this version was first seen here. */
  readonly seenAt: number;
}

/** Maintains this server's lease, and the endpoints for all leases of servers on the same store. */
export class Peers {
  readonly #options: PeersOptions;
  readonly #name: string;
  readonly #leases = new Map<string, SeenLease>();
  readonly #listening: (() => void)[] = [];
  readonly #reconcileSoon = soon(() => void this.#reconcile());
  #isMember = false;
  #renewal: Timer | undefined;
  #expiry: Timer | undefined;
  /** Writes of the endpoints, one after the other. */
  #writing: Promise<void> = Promise.resolve();

  constructor(options: PeersOptions) {
    this.#options = options;
    this.#name = leaseName(options.identity);
  }

  /** Resolves when this server is among the endpoints. */
  async join(): Promise<void> {
    this.#isMember = true;
    this.#watchLeases();
    await this.#renew();
    await this.#reconcile();
  }

  /** Resolves when this server is no longer among the endpoints, unless it is the only one. */
  async leave(): Promise<void> {
    this.#isMember = false;
    this.#renewal?.cancel();
    const { handle, log } = this.#options;
    try {
      await remove(handle, { ...LEASES, name: this.#name });
    } catch (error) {
      log.warn('the lease of this server could not be removed, and expires', { error });
    }
    this.#leases.delete(this.#name);
    await this.#reconcile();
    this.stop();
  }

  /** Stops without leaving: the lease expires. */
  stop(): void {
    this.#isMember = false;
    this.#renewal?.cancel();
    this.#expiry?.cancel();
    for (const stopListening of this.#listening.splice(0)) stopListening();
  }

  async #renew(): Promise<void> {
    const { handle, identity, clock, log } = this.#options;
    try {
      await put(handle, leaseOf(identity, clock.now()));
    } catch (error) {
      log.warn('the lease of this server could not be renewed', { error });
    }
    if (!this.#isMember) return;
    this.#renewal?.cancel();
    this.#renewal = clock.timer(RENEW_INTERVAL_MS, () => void this.#renew());
  }

  #watchLeases(): void {
    const { cache } = this.#options;
    for (const { at, hub, revision } of entriesOf(cache, Lease, LEASE_NAMESPACE)) this.#see(at.name, hub, revision);
    this.#listen(Lease, ({ at, entry }) => {
      if (at.namespace !== LEASE_NAMESPACE) return;
      if (entry) this.#see(at.name, entry.hub(Lease) as Lease, entry.revision);
      else if (this.#leases.delete(at.name)) this.#reconcileSoon();
    });
    for (const kind of [Endpoints, EndpointSlice]) {
      this.#listen(kind, ({ at }) => {
        if (at.namespace === NAMESPACE && at.name.startsWith(SERVICE)) this.#reconcileSoon();
      });
    }
  }

  #listen(kind: Kind, listener: (record: ChangeRecord) => void): void {
    const { listeners } = this.#options.cache.table(kind);
    listeners.add(listener);
    this.#listening.push(() => listeners.delete(listener));
  }

  #see(name: string, lease: Lease, revision: number): void {
    const read = readLease(lease);
    if (!read) return;
    const known = this.#leases.get(name);
    const seenAt = this.#options.clock.now();
    this.#leases.set(name, { ...read, resourceVersion: String(revision), seenAt });
    if (!known || !deepEqual(known.server, read.server)) this.#reconcileSoon();
    else this.#awaitExpiry();
  }

  /** Removes expired leases and writes the endpoints of the others, after pending writes. */
  #reconcile(): Promise<void> {
    this.#writing = this.#writing.then(async () => {
      try {
        await this.#removeExpired();
        await this.#publish();
      } catch (error) {
        this.#options.log.warn('the endpoints of the servers could not be updated', { error });
      }
    });
    return this.#writing;
  }

  async #removeExpired(): Promise<void> {
    const { handle, clock } = this.#options;
    const now = clock.now();
    for (const [name, { seenAt, durationMs, resourceVersion }] of [...this.#leases]) {
      if (name === this.#name || seenAt + durationMs > now) continue;
      this.#leases.delete(name);
      await remove(handle, { ...LEASES, name }, resourceVersion);
    }
    this.#awaitExpiry();
  }

  #awaitExpiry(): void {
    const { clock } = this.#options;
    this.#expiry?.cancel();
    const others = [...this.#leases].filter(([name]) => name !== this.#name);
    if (others.length === 0 || !this.#isMember) return;
    const ends = others.map(([, { seenAt, durationMs }]) => seenAt + durationMs);
    const next = ends.reduce((least, end) => Math.min(least, end));
    this.#expiry = clock.timer(next - clock.now(), () => void this.#reconcile());
  }

  async #publish(): Promise<void> {
    const { handle, cache, identity } = this.#options;
    const others = [...this.#leases].filter(([name]) => name !== this.#name).map(([, { server }]) => server);
    const servers = this.#isMember ? [identity.advertise, ...others] : others;
    // Without any server, clients are better off with addresses that may come back.
    if (servers.length === 0) return;
    const slices = slicesFor(servers);
    await this.#write(Endpoints, endpointsFor(servers));
    for (const slice of slices) await this.#write(EndpointSlice, slice);
    for (const { at, hub } of entriesOf(cache, EndpointSlice, NAMESPACE)) {
      const isWanted = slices.some(({ body }) => body.metadata.name === at.name);
      if (isWanted || !isFurtherSlice(hub.metadata.labels)) continue;
      await remove(handle, { apiVersion: 'discovery.k8s.io/v1', plural: 'endpointslices', ...at });
    }
  }

  /** Writes an object unless the cache has it already with the same content. */
  async #write(kind: Kind, object: OwnObject): Promise<void> {
    const { handle, cache } = this.#options;
    const { metadata, ...content } = object.body;
    const found = cache.table(kind).get(NAMESPACE, metadata.name)?.hub(kind) as Record<string, unknown> | undefined;
    const isCurrent = found && Object.entries(content).every(([field, value]) => deepEqual(found[field], value));
    if (!isCurrent) await put(handle, object);
  }
}

const LEASES = { apiVersion: 'coordination.k8s.io/v1', plural: 'leases', namespace: LEASE_NAMESPACE };

function entriesOf<T extends KubeObject>(cache: Pick<Cache, 'table'>, kind: Kind<T>, namespace: string) {
  return cache
    .table(kind)
    .entries(namespace)
    .map((entry) => ({ at: entry.at, revision: entry.revision, hub: entry.hub(kind) }));
}
