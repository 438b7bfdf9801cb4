/** Plans one pod of any template on every node that should have one, and none elsewhere. */
import type { SeenPod } from '../../../api/seen-objects.ts';
import { type IntOrPercent, magnitude } from '../../../kinds/shapes/meta/int-or-percent.ts';
import { type Action, event, requeueAfter } from '../../loop/plan.ts';
import { isActive, isAvailable, isReady } from '../../shared/pods/pod-life.ts';
import type { DaemonNode, DaemonNodes } from './daemon-nodes.ts';
import type { PodTest, SeenDaemonSet } from './daemon-pod.ts';
import type { FailedPods } from './failure-backoff.ts';

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
  readonly backoff: Pick<FailedPods, 'wait'>;
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
  readonly #surges: boolean;
  readonly #create: string[] = [];
  readonly #remove: SeenPod[] = [];
  readonly #failed: string[] = [];
  readonly #actions: Action[] = [];

  constructor(
    private readonly daemonSet: SeenDaemonSet,
    private readonly input: NodePlanInput,
  ) {
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
    const { now, backoff } = this.input;
    const key = backoffKey(this.daemonSet, node);
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
    this.#actions.push(event(this.daemonSet, type, reason, message));
    this.#remove.push(pod);
  }

  /** Keeps one of them. During a surge, an old pod may stay until the new one is available. */
  #thin({ node, shouldRun }: DaemonNode, running: readonly SeenPod[]): void {
    if (!this.#surges) {
      for (const pod of running.slice(1)) this.#remove.push(pod);
      return;
    }
    if (running.length === 0 && shouldRun) this.#create.push(node);
    const { isUpdated, now } = this.input;
    const [fresh, ...moreFresh] = running.filter(isUpdated);
    const [old, ...moreOld] = running.filter((pod) => !isUpdated(pod));
    this.#remove.push(...moreFresh, ...moreOld);
    if (!fresh || !old) return;
    const { minReadySeconds = 0 } = this.daemonSet.spec;
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

/** Plans a rolling update. Requires that each node has its pod and no other change is in progress. */
export function roll(
  daemonSet: SeenDaemonSet,
  { nodes, desired }: DaemonNodes,
  { isUpdated, now }: { readonly isUpdated: PodTest; readonly now: number },
): Changes {
  const { minReadySeconds = 0 } = daemonSet.spec;
  if (nodes.every(({ pods }) => pods.every(isUpdated))) return NO_CHANGES;
  const { maxSurge, maxUnavailable } = updateLimitsOf(daemonSet, desired);
  const isUp = (pod: SeenPod) => isAvailable(pod, minReadySeconds, now);
  if (maxSurge === 0) return replace(nodes, { maxUnavailable, isUpdated, isUp });
  const pairs = nodes.map((daemonNode) => pairOf(daemonNode, isUpdated));
  return surge(pairs, { maxSurge, desired, isUp });
}

const NO_CHANGES: Changes = { create: [], remove: [] };

interface Replacing {
  readonly maxUnavailable: number;
  readonly isUpdated: PodTest;
  readonly isUp: PodTest;
}

/**
 * Deletes old pods, and recreates them on nodes without one. An old pod that is not available is no loss; of the others as
 * many are deleted as maxUnavailable allows. Nodes with several pods are first reduced to one.
 */
function replace(nodes: readonly DaemonNode[], { maxUnavailable, isUpdated, isUp }: Replacing): Changes {
  const broken: SeenPod[] = [];
  const working: SeenPod[] = [];
  let missing = 0;
  for (const { pods } of nodes) {
    const only = onlyPod(pods);
    const works = only !== undefined && isUp(only);
    if (!works) missing++;
    if (only && !isUpdated(only)) (works ? working : broken).push(only);
  }
  return { create: [], remove: [...broken, ...working.slice(0, Math.max(0, maxUnavailable - missing))] };
}

/** The only pod, apart from terminating ones. */
function onlyPod(pods: readonly SeenPod[]): SeenPod | undefined {
  let only: SeenPod | undefined;
  for (const pod of pods) {
    if (pod.metadata.deletionTimestamp) continue;
    if (only) return undefined;
    only = pod;
  }
  return only;
}

/** The pods of a node, apart from terminating ones. */
interface Pair {
  readonly daemonNode: DaemonNode;
  readonly fresh: SeenPod | undefined;
  readonly old: SeenPod | undefined;
  /** True when the node has more pods, which are removed first. */
  readonly isCrowded: boolean;
}

function pairOf(daemonNode: DaemonNode, isUpdated: PodTest): Pair {
  let fresh: SeenPod | undefined;
  let old: SeenPod | undefined;
  let isCrowded = false;
  for (const pod of daemonNode.pods) {
    if (pod.metadata.deletionTimestamp) continue;
    if (isUpdated(pod)) {
      if (fresh) isCrowded = true;
      else fresh = pod;
    } else if (old) isCrowded = true;
    else old = pod;
  }
  return { daemonNode, fresh, old, isCrowded };
}

/**
 * Starts new pods beside available old ones, which are deleted when the new ones are available. On a node that should
 * have no pod, an available one is deleted only when there are enough others.
 */
function surge(
  pairs: readonly Pair[],
  { maxSurge, desired, isUp }: { readonly maxSurge: number; readonly desired: number; readonly isUp: PodTest },
): Changes {
  const remove: SeenPod[] = [];
  const create: string[] = [];
  const ineligible: SeenPod[] = [];
  const candidates: string[] = [];
  let surplus = 0;
  let available = 0;
  for (const { daemonNode, fresh, old, isCrowded } of pairs) {
    if (isCrowded) {
      surplus++;
      continue;
    }
    const first = old ?? fresh;
    if (first && isUp(first)) available++;
    if (!old) continue;
    if (fresh) {
      if (isUp(fresh)) remove.push(old);
      else surplus++;
    } else if (!daemonNode.shouldRun) (isUp(old) ? ineligible : remove).push(old);
    else (isUp(old) ? candidates : create).push(daemonNode.node);
  }
  return {
    create: [...create, ...candidates.slice(0, Math.max(0, maxSurge - surplus))],
    remove: [...remove, ...ineligible.slice(0, Math.max(0, available - desired))],
  };
}

interface UpdateLimits {
  /** Number of nodes that may have both an old and a new pod. */
  readonly maxSurge: number;
  /** Number of nodes that may be without an available pod. */
  readonly maxUnavailable: number;
}

/** Percentages of the desired nodes are rounded up. */
function updateLimitsOf({ spec }: SeenDaemonSet, desired: number): UpdateLimits {
  const { type, rollingUpdate } = spec.updateStrategy;
  if (type !== 'RollingUpdate') return { maxSurge: 0, maxUnavailable: 0 };
  const maxSurge = share(rollingUpdate?.maxSurge, desired);
  const maxUnavailable = share(rollingUpdate?.maxUnavailable, desired);
  // With both at zero, it would never proceed.
  return { maxSurge, maxUnavailable: maxSurge === 0 ? Math.max(1, maxUnavailable) : maxUnavailable };
}

function share(value: IntOrPercent | undefined, of: number): number {
  return typeof value === 'string' ? Math.ceil((magnitude(value) * of) / 100) : (value ?? 0);
}
