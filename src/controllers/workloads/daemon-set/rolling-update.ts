/** Updates pods of older templates node by node. */
import type { SeenPod } from '../../../api/seen-objects.ts';
import { isAvailable } from '../../shared/pods/availability.ts';
import type { DaemonNode, DaemonNodes } from './daemon-nodes.ts';
import type { PodTest, SeenDaemonSet } from './daemon-pod.ts';
import type { Changes } from './plan-nodes.ts';
import { updateLimitsOf } from './update-limits.ts';

export interface UpdateInput {
  readonly isUpdated: PodTest;
  readonly now: number;
}

/** Plans a rolling update. Requires that each node has its pod and no other change is in progress. */
export function roll(
  daemonSet: SeenDaemonSet,
  { nodes, desired }: DaemonNodes,
  { isUpdated, now }: UpdateInput,
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
 * Starts new pods beside old ones, which are deleted when the new ones are available. A new pod beside one that is not
 * available is not a surge. On a node that should no longer have a pod, an available one is deleted only when there are
 * enough others.
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
