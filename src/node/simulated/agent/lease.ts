/**
 * The leases by which nodes say that they are there. They are long, and longer the more nodes there are, so that thousands
 * cost next to nothing: all of them together are renewed a few times a second. A node that goes down says with its last
 * breath that it will not be long until it is missed.
 */
import type { Clock } from '../../../base/clock.ts';
import { isApiError } from '../../../base/errors.ts';
import { Lease } from '../../../kinds/groups/coordination/lease.ts';
import type { SimulatedNode } from './node.ts';

const NAMESPACE = 'kube-node-lease';
/** A lease lasts so many renewals. */
const RENEWALS = 4;
const SHORTEST_INTERVAL = 60_000;
/** Renewals of all nodes together, in milliseconds for each. */
const SPACING = 250;
/** How long an agent's lease usually lasts. */
const USUAL_SECONDS = 40;

/** Milliseconds between two renewals of one node. */
export function renewalInterval(nodes: number): number {
  return Math.max(SHORTEST_INTERVAL, nodes * SPACING);
}

export class Leases {
  readonly #clock: Clock;
  readonly #seconds: number;

  constructor(clock: Clock, nodes: number) {
    this.#clock = clock;
    this.#seconds = Math.ceil((renewalInterval(nodes) * RENEWALS) / 1_000);
  }

  /** Renews the node's lease, or creates it. */
  async renew(node: SimulatedNode, signal: AbortSignal): Promise<void> {
    await this.#write(node, { seconds: this.#seconds, signal });
  }

  /** Renews the lease of a node that goes down for the last time. */
  async release(node: SimulatedNode, signal: AbortSignal): Promise<void> {
    await this.#write(node, { seconds: Math.min(USUAL_SECONDS, this.#seconds), signal });
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
