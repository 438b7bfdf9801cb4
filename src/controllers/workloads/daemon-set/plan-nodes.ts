/** Plans one pod of any template on every node that should have one, and none elsewhere. */
import type { SeenPod } from '../../../api/seen-objects.ts';
import { type Action, event, requeueAfter } from '../../loop/plan.ts';
import { isAvailable } from '../../shared/pods/availability.ts';
import { isActive, isReady } from '../../shared/pods/pod-life.ts';
import type { DaemonNode, DaemonNodes } from './daemon-nodes.ts';
import type { PodTest, SeenDaemonSet } from './daemon-pod.ts';
import type { FailureBackoff } from './failure-backoff.ts';
import { updateLimitsOf } from './update-limits.ts';

/** Changes to pods. */
export interface Changes {
  /** The nodes that get one. */
  readonly create: readonly string[];
  readonly remove: readonly SeenPod[];
}

export interface NodePlan extends Changes {
  /** Nodes whose failed pods are replaced, which lengthens their back-off. */
  readonly failed: readonly string[];
  /** Events, and when to plan again. */
  readonly actions: readonly Action[];
}

export interface NodePlanInput {
  readonly isUpdated: PodTest;
  readonly now: number;
  readonly backoff: FailureBackoff;
}

export function planNodes(
  daemonSet: SeenDaemonSet,
  { nodes, strandedPods }: DaemonNodes,
  input: NodePlanInput,
): NodePlan {
  const work = new NodePlanBuilder(daemonSet, input);
  for (const daemonNode of nodes) work.add(daemonNode);
  const build = work.build();
  return { ...build, remove: [...build.remove, ...strandedPods] };
}

class NodePlanBuilder {
  readonly #daemonSet: SeenDaemonSet;
  readonly #input: NodePlanInput;
  readonly #surges: boolean;
  readonly #create: string[] = [];
  readonly #remove: SeenPod[] = [];
  readonly #failed: string[] = [];
  readonly #actions: Action[] = [];

  constructor(daemonSet: SeenDaemonSet, input: NodePlanInput) {
    this.#daemonSet = daemonSet;
    this.#input = input;
    this.#surges = updateLimitsOf(daemonSet, 1).maxSurge > 0;
  }

  build(): NodePlan {
    return { create: this.#create, remove: this.#remove, failed: this.#failed, actions: this.#actions };
  }

  add(daemonNode: DaemonNode): void {
    const { node, shouldRun, mayStay, pods } = daemonNode;
    // Nearly all nodes are like this.
    if (mayStay && pods.length === 1 && isActive(pods[0] as SeenPod)) return;
    const present = pods.filter(({ metadata }) => !metadata.deletionTimestamp);
    if (shouldRun && pods.length === 0) this.#create.push(node);
    else if (!mayStay) this.#remove.push(...present);
    else this.#thin(daemonNode, this.#withoutEnded(node, present));
  }

  /** Deletes terminated pods; failed ones with a back-off. */
  #withoutEnded(node: string, pods: readonly SeenPod[]): readonly SeenPod[] {
    return pods.filter((pod) => {
      const { phase } = pod.status;
      if (phase === 'Failed') this.#removeFailed(node, pod);
      else if (phase === 'Succeeded')
        this.#removeEnded(pod, `Found succeeded daemon pod ${describePod(pod, node)} delete it`);
      else return true;
      return false;
    });
  }

  #removeFailed(node: string, pod: SeenPod): void {
    const { now, backoff } = this.#input;
    const key = backoffKey(this.#daemonSet, node);
    const wait = backoff.wait(key, now);
    if (wait > 0) {
      this.#actions.push(requeueAfter(wait));
      return;
    }
    this.#failed.push(key);
    this.#removeEnded(pod, `Found failed daemon pod ${describePod(pod, node)} kill it`);
  }

  #removeEnded(pod: SeenPod, message: string): void {
    const [type, reason] = pod.status.phase === 'Failed' ? FAILED_POD_EVENT : SUCCEEDED_POD_EVENT;
    this.#actions.push(event(this.#daemonSet, type, reason, message));
    this.#remove.push(pod);
  }

  /** Keeps one of them. During a surge, an old pod may stay until the new one is available. */
  #thin({ node, shouldRun }: DaemonNode, running: readonly SeenPod[]): void {
    if (!this.#surges) {
      for (const pod of running.slice(1)) this.#remove.push(pod);
      return;
    }
    if (running.length === 0 && shouldRun) this.#create.push(node);
    const { isUpdated, now } = this.#input;
    const [fresh, ...moreFresh] = running.filter(isUpdated);
    const [old, ...moreOld] = running.filter((pod) => !isUpdated(pod));
    this.#remove.push(...moreFresh, ...moreOld);
    if (!fresh || !old) return;
    const { minReadySeconds = 0 } = this.#daemonSet.spec;
    if (!isReady(old) || isAvailable(fresh, minReadySeconds, now)) this.#remove.push(old);
  }
}

const FAILED_POD_EVENT = ['Warning', 'FailedDaemonPod'] as const;
const SUCCEEDED_POD_EVENT = ['Normal', 'SucceededDaemonPod'] as const;

const describePod = ({ metadata }: SeenPod, node: string) =>
  `${metadata.namespace}/${metadata.name} on node ${node}, will try to`;

/** A new template starts without back-off. */
const backoffKey = ({ metadata, status }: SeenDaemonSet, node: string) =>
  `${metadata.uid}/${status.observedGeneration ?? 0}/${node}`;
