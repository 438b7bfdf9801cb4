/** The state of one simulated node. */
import type { Client } from '../../../client/client.ts';
import { AddressPool } from './addresses.ts';
import type { Machine } from './machine.ts';
import type { TimerTask } from './timer-queue.ts';

export class SimulatedNode {
  readonly machine: Machine;
  /** Acts as the node itself, with the rights of a node. */
  readonly client: Client;
  pool: AddressPool;
  uid: string | undefined;
  isUnschedulable = false;
  /** True while a write of its Ready condition is in progress. */
  isReporting = false;
  /** Why the node is down; empty while it is up. */
  readonly downBy = new Set<'annotation' | 'rule'>();
  readonly renewal: TimerTask;
  readonly outage: TimerTask;

  constructor(machine: Machine, client: Client, wakes: { renewal: () => void; outage: () => void }) {
    this.machine = machine;
    this.client = client;
    this.pool = new AddressPool(machine.podRange);
    this.renewal = { dueAt: undefined, run: wakes.renewal };
    this.outage = { dueAt: undefined, run: wakes.outage };
  }

  get name(): string {
    return this.machine.name;
  }

  get isUp(): boolean {
    return this.downBy.size === 0;
  }
}
