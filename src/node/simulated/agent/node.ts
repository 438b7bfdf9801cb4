/** One simulated node as the fleet keeps it. */
import type { Client } from '../../../client/client.ts';
import { AddressPool } from './addresses.ts';
import type { Sleeper } from './agenda.ts';
import type { Machine } from './machine.ts';

export class SimulatedNode {
  readonly machine: Machine;
  /** Acts as the node itself, with the rights of a node. */
  readonly client: Client;
  pool: AddressPool;
  uid: string | undefined;
  /** Whether it takes no new pods. */
  isClosed = false;
  /** Whether it is saying that it is well. */
  isReporting = false;
  /** Why it says nothing; it is up as long as there is no reason. */
  readonly downBy = new Set<'annotation' | 'rule'>();
  readonly renewal: Sleeper;
  readonly outage: Sleeper;

  constructor(machine: Machine, client: Client, wakes: { renewal: () => void; outage: () => void }) {
    this.machine = machine;
    this.client = client;
    this.pool = new AddressPool(machine.podRange);
    this.renewal = { wakesAt: undefined, wake: wakes.renewal };
    this.outage = { wakesAt: undefined, wake: wakes.outage };
  }

  get name(): string {
    return this.machine.name;
  }

  get isUp(): boolean {
    return this.downBy.size === 0;
  }
}
