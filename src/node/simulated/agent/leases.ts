/**
 * Renews the leases of nodes. They are long, and longer the more nodes there are, so that thousands of nodes together write
 * only a few renewals a second. A node that goes down shortens its lease, so that it is missed as soon as any other.
 */

import { isApiError } from '../../../base/errors.ts';
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
  readonly #clock: Clock;
  readonly #seconds: number;

  /** `interval`: milliseconds between two renewals. */
  constructor(clock: Clock, interval: number) {
    this.#clock = clock;
    this.#seconds = Math.ceil((interval * RENEWALS_PER_LEASE) / 1_000);
  }

  /** Renews the node's lease, or creates it. */
  async renew(node: SimulatedNode, signal: AbortSignal): Promise<void> {
    await this.#write(node, { seconds: this.#seconds, signal });
  }

  /** Renews the lease for the last time, when the node goes down. */
  async release(node: SimulatedNode, signal: AbortSignal): Promise<void> {
    await this.#write(node, { seconds: Math.min(DEFAULT_LEASE_SECONDS, this.#seconds), signal });
  }

  async #write(
    { client, name, uid }: SimulatedNode,
    { seconds, signal }: { seconds: number; signal: AbortSignal },
  ): Promise<void> {
    const leases = client.of(Lease).in(NAMESPACE);
    const spec = { holderIdentity: name, leaseDurationSeconds: seconds, renewTime: microTime(this.#clock.now()) };
    try {
      await leases.patch(name, { type: 'merge', changes: { spec } }, { signal });
    } catch (error) {
      if (!isApiError(error, 'NotFound')) throw error;
      const owner = { apiVersion: 'v1', kind: 'Node', name, uid: uid ?? '' };
      const metadata = { name, namespace: NAMESPACE, ...(uid ? { ownerReferences: [owner] } : {}) };
      await leases.create({ metadata, spec }, { signal });
    }
  }
}

const microTime = (now: number) => new Date(now).toISOString().replace('Z', '000Z');
