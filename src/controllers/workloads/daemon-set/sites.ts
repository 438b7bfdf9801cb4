/** A DaemonSet's nodes, each with the pods that it has there. */

import { Node } from '../../../kinds/groups/core/node/node.ts';
import type { Listers } from '../../loop/define.ts';
import { isTerminal } from '../../shared/pods/pod-life.ts';
import { type SeenDaemonSet, type SeenPod, targetNode } from './daemon-pod.ts';
import { eligibility, type Verdict } from './eligibility.ts';

/** A node that should have a pod, or has one. */
export interface Site extends Verdict {
  readonly node: string;
  /** Oldest first; those that are on the node before those that only wait for it. */
  readonly pods: readonly SeenPod[];
}

export interface Sites {
  readonly sites: readonly Site[];
  /** Pods that wait for a node that is gone. */
  readonly stranded: readonly SeenPod[];
  /** How many nodes should have a pod. */
  readonly desired: number;
}

export function sitesOf(daemonSet: SeenDaemonSet, pods: readonly SeenPod[], { of }: Listers): Sites {
  const byNode = groupByNode(pods);
  const judge = eligibility(daemonSet);
  const sites: Site[] = [];
  let desired = 0;
  for (const node of of(Node).list()) {
    const { name = '' } = node.metadata;
    const found = byNode.get(name);
    byNode.delete(name);
    const { shouldRun, mayStay } = judge(node);
    if (shouldRun) desired++;
    if (shouldRun || found) sites.push({ node: name, shouldRun, mayStay, pods: found ? sorted(found) : NOBODY });
  }
  // Those that ran there are for the collection of pods without nodes.
  const stranded = [...byNode.values()]
    .flat()
    .filter(({ metadata, spec }) => !spec.nodeName && !metadata.deletionTimestamp);
  return { sites, stranded, desired };
}

const NOBODY: readonly SeenPod[] = [];

function groupByNode(pods: readonly SeenPod[]): Map<string, SeenPod[]> {
  const out = new Map<string, SeenPod[]>();
  for (const pod of pods) {
    // It has ended and was told to go: nothing is left to do about it.
    if (isTerminal(pod) && pod.metadata.deletionTimestamp) continue;
    const node = targetNode(pod);
    if (node === undefined) continue;
    const found = out.get(node);
    if (found) found.push(pod);
    else out.set(node, [pod]);
  }
  return out;
}

const sorted = (pods: SeenPod[]) => (pods.length > 1 ? pods.sort(byAge) : pods);

function byAge(a: SeenPod, b: SeenPod): number {
  if (!a.spec.nodeName !== !b.spec.nodeName) return a.spec.nodeName ? -1 : 1;
  const [timeA = '', timeB = ''] = [a.metadata.creationTimestamp, b.metadata.creationTimestamp];
  if (timeA !== timeB) return timeA < timeB ? -1 : 1;
  return (a.metadata.name ?? '') < (b.metadata.name ?? '') ? -1 : 1;
}
