/**
 * Renews the leases of nodes. They are long, and longer the more nodes there are, so that thousands of nodes together write
 * only a few renewals a second. A node that goes down shortens its lease, so that it is missed as soon as any other.
 */

import { isApiError } from '../../../api/errors.ts';
import type { Clock } from '../../../base/time/clock.ts';
import { createLease, type LeaseWrite, writeLease } from '../../agent/node/lease.ts';
import type { SimulatedNode } from './node.ts';

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
      await createLease(this.#leaseOf(node), { signal });
    } catch (error) {
      if (!isApiError(error, 'AlreadyExists')) throw error;
      await this.renew(node, signal);
    }
  }

  /** Renews the node's lease, or creates it. */
  async renew(node: SimulatedNode, signal: AbortSignal): Promise<void> {
    await writeLease(this.#leaseOf(node), { signal });
  }

  /** Renews the lease for the last time, when the node goes down. */
  async release(node: SimulatedNode, signal: AbortSignal): Promise<void> {
    await writeLease(this.#leaseOf(node, Math.min(DEFAULT_LEASE_SECONDS, this.#seconds)), { signal });
  }

  #leaseOf({ client, name, uid }: SimulatedNode, seconds = this.#seconds): LeaseWrite {
    return { client, node: name, uid, seconds, now: this.clock.now() };
  }
}
