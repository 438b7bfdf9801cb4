import type { PodLife } from '../lifecycle/pod-life.ts';
import type { SimulatedNode } from './node.ts';
import type { TimerTask } from './timer-queue.ts';

/** A pod on its node. As a task, it runs when the pod's next step is due. */
export interface NodePod extends TimerTask {
  readonly life: PodLife;
  readonly node: SimulatedNode;
  /** True when the node has decided to run it, or has started it before. */
  isAdmitted: boolean;
}
