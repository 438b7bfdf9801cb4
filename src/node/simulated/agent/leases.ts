/**
 * Renews the leases of nodes. They are long, and longer the more nodes there are, so that thousands of nodes together write
 * only a few renewals a second. A node that goes down shortens its lease, so that it is missed as soon as any other.
 */

import { isApiError } from '../../../api/errors.ts';
import type { Clock } from '../../../base/time/clock.ts';
import { Lease } from '../../../kinds/groups/coordination/lease.ts';
import type { SimulatedNode } from './node.ts';

const NAMESPACE = 'kube-node-lease';
const RENEWALS_PER_LEASE = 4;
const MIN_RENEWAL_INTERVAL_MS = 60_000;
/** Time between renewals of different nodes. */
const RENEWAL_SPACING_MS = 250;
/** The lease duration of kubelets. */
const DEFAULT_LEASE_SECONDS = 40;

/** Returns the milliseconds between two renewals of one node. */
export function renewalInterval(nodes: number): number {
  return Math.max(MIN_RENEWAL_INTERVAL_MS, nodes * RENEWAL_SPACING_MS);
}

export class Leases {
  readonly #seconds: number;

  /** `interval`: milliseconds between two renewals. */
  constructor(
    private readonly clock: Clock,
    interval: number,
  ) {
    this.#seconds = Math.ceil((interval * RENEWALS_PER_LEASE) / 1_000);
  }

  /** Creates the lease of a new node, or renews the one that an earlier node of its name has left. */
  async create(node: SimulatedNode, signal: AbortSignal): Promise<void> {
    try {
      await this.#create(node, { seconds: this.#seconds, signal });
    } catch (error) {
      if (!isApiError(error, 'AlreadyExists')) throw error;
      await this.renew(node, signal);
    }
  }

  /** Renews the node's lease, or creates it. */
  async renew(node: SimulatedNode, signal: AbortSignal): Promise<void> {
    await this.#write(node, { seconds: this.#seconds, signal });
  }

  /** Renews the lease for the last time, when the node goes down. */
  async release(node: SimulatedNode, signal: AbortSignal): Promise<void> {
    await this.#write(node, { seconds: Math.min(DEFAULT_LEASE_SECONDS, this.#seconds), signal });
  }

  async #write(node: SimulatedNode, write: LeaseWrite): Promise<void> {
    const { client, name } = node;
    const changes = { spec: this.#spec(node, write) };
    try {
      await client.of(Lease).in(NAMESPACE).patch(name, { type: 'merge', changes }, { signal: write.signal });
    } catch (error) {
      if (!isApiError(error, 'NotFound')) throw error;
      await this.#create(node, write);
    }
  }

  async #create(node: SimulatedNode, write: LeaseWrite): Promise<void> {
    const { client, name, uid } = node;
    const owner = { apiVersion: 'v1', kind: 'Node', name, uid: uid ?? '' };
    const metadata = { name, namespace: NAMESPACE, ownerReferences: uid ? [owner] : undefined };
    const lease = { metadata, spec: this.#spec(node, write) };
    await client.of(Lease).in(NAMESPACE).create(lease, { signal: write.signal });
  }

  #spec({ name }: SimulatedNode, { seconds }: LeaseWrite): Lease['spec'] {
    return { holderIdentity: name, leaseDurationSeconds: seconds, renewTime: microTime(this.clock.now()) };
  }
}

interface LeaseWrite {
  readonly seconds: number;
  readonly signal: AbortSignal;
}

const microTime = (now: number) => new Date(now).toISOString().replace('Z', '000Z');
