/** The nodes of a DaemonSet, each with its pods. */

import type { SeenPod } from '../../../api/seen-objects.ts';
import { groupBy } from '../../../base/collections/group-by.ts';
import { Node } from '../../../kinds/groups/core/node/node.ts';
import type { Listers } from '../../loop/define.ts';
import { isTerminal } from '../../shared/pods/pod-life.ts';
import { type SeenDaemonSet, targetNode } from './daemon-pod.ts';
import { type Eligibility, eligibility } from './eligibility.ts';

/** A node that should have a pod, or has one. */
export interface DaemonNode extends Eligibility {
  readonly node: string;
  /** Oldest first; pods on the node before those that only wait for it. */
  readonly pods: readonly SeenPod[];
}

export interface DaemonNodes {
  readonly nodes: readonly DaemonNode[];
  /** Pods that wait for a node that is gone. */
  readonly strandedPods: readonly SeenPod[];
  /** Number of nodes that should have a pod. */
  readonly desired: number;
}

export function daemonNodesOf(daemonSet: SeenDaemonSet, pods: readonly SeenPod[], { of }: Listers): DaemonNodes {
  const byNode = groupBy(pods, nodeOf);
  const test = eligibility(daemonSet);
  const nodes: DaemonNode[] = [];
  let desired = 0;
  for (const node of of(Node).list()) {
    const { name = '' } = node.metadata;
    const found = byNode.get(name);
    byNode.delete(name);
    const { shouldRun, mayStay } = test(node);
    if (shouldRun) desired++;
    if (shouldRun || found) nodes.push({ node: name, shouldRun, mayStay, pods: found ? sorted(found) : NO_PODS });
  }
  // Pods that ran on missing nodes are left to the pod garbage collector.
  const strandedPods = [...byNode.values()]
    .flat()
    .filter(({ metadata, spec }) => !spec.nodeName && !metadata.deletionTimestamp);
  return { nodes, strandedPods, desired };
}

const NO_PODS: readonly SeenPod[] = [];

/** The node of a pod; undefined for one that has ended and is being deleted: nothing is left to do. */
function nodeOf(pod: SeenPod): string | undefined {
  return isTerminal(pod) && pod.metadata.deletionTimestamp ? undefined : targetNode(pod);
}

const sorted = (pods: SeenPod[]) => (pods.length > 1 ? pods.sort(byAge) : pods);

function byAge(a: SeenPod, b: SeenPod): number {
  if (!a.spec.nodeName !== !b.spec.nodeName) return a.spec.nodeName ? -1 : 1;
  const [timeA = '', timeB = ''] = [a.metadata.creationTimestamp, b.metadata.creationTimestamp];
  if (timeA !== timeB) return timeA < timeB ? -1 : 1;
  return (a.metadata.name ?? '') < (b.metadata.name ?? '') ? -1 : 1;
}
