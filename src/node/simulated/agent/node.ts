/** The state of one simulated node. */
import type { Client } from '../../../client/client.ts';
import type { PodLife } from '../lifecycle/pod-life.ts';
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

/** A pod on its node. As a task, it runs when the pod's next step is due. */
export interface NodePod extends TimerTask {
  readonly life: PodLife;
  readonly node: SimulatedNode;
  /** True when the node has decided to run it, or has started it before. */
  isAdmitted: boolean;
}
