/** The nodes of a DaemonSet, each with its pods. */

import type { SeenNode, SeenPod } from '../../../api/seen-objects.ts';
import { groupBy } from '../../../base/collections/group-by.ts';
import { memoized } from '../../../base/collections/memoized.ts';
import { Node } from '../../../kinds/groups/core/node/node.ts';
import { requiredNodes } from '../../../kinds/placement/required-nodes.ts';
import { isTolerated } from '../../../kinds/placement/tolerations.ts';
import type { Listers } from '../../loop/define.ts';
import { olderFirst } from '../../shared/ownership.ts';
import { isAvailable, isReady, isTerminal } from '../../shared/pods/pod-life.ts';
import { type PodTest, type SeenDaemonSet, targetNode, tolerationsOf } from './daemon-pod.ts';

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
  return olderFirst(a, b);
}

interface Eligibility {
  readonly shouldRun: boolean;
  /** True when an existing pod may stay. */
  readonly mayStay: boolean;
}

type EligibilityTest = (node: SeenNode) => Eligibility;

const YES: Eligibility = { shouldRun: true, mayStay: true };
const NO_NEW: Eligibility = { shouldRun: false, mayStay: true };
const NO: Eligibility = { shouldRun: false, mayStay: false };

export const eligibility = ({ spec }: SeenDaemonSet): EligibilityTest => testOf(spec.template.spec);

const testOf = memoized((spec: SeenDaemonSet['spec']['template']['spec']): EligibilityTest => {
  const isWanted = requiredNodes(spec as never);
  const tolerations = tolerationsOf(spec as never);
  return (node) => {
    if (spec.nodeName && spec.nodeName !== node.metadata.name) return NO;
    if (isWanted && !isWanted(node.metadata)) return NO;
    let verdict = YES;
    for (const taint of node.spec.taints ?? []) {
      if (taint.effect === 'PreferNoSchedule' || isTolerated(taint, tolerations)) continue;
      if (taint.effect === 'NoExecute') return NO;
      verdict = NO_NEW;
    }
    return verdict;
  };
});

interface StatusInput {
  readonly isUpdated: PodTest;
  readonly collisions: number | undefined;
  readonly now: number;
}

export function statusOf(
  daemonSet: SeenDaemonSet,
  all: DaemonNodes,
  { isUpdated, collisions, now }: StatusInput,
): object {
  const { metadata, spec, status } = daemonSet;
  const { minReadySeconds = 0 } = spec;
  let current = 0;
  let misscheduled = 0;
  let ready = 0;
  let available = 0;
  let updated = 0;
  for (const { shouldRun, pods } of all.nodes) {
    const [oldest] = pods;
    if (!oldest) continue;
    if (!shouldRun) {
      misscheduled++;
      continue;
    }
    current++;
    if (isUpdated(oldest)) updated++;
    if (!isReady(oldest)) continue;
    ready++;
    if (isAvailable(oldest, minReadySeconds, now)) available++;
  }
  return {
    ...status,
    desiredNumberScheduled: all.desired,
    currentNumberScheduled: current,
    numberMisscheduled: misscheduled,
    numberReady: ready,
    updatedNumberScheduled: shown(updated),
    numberAvailable: shown(available),
    numberUnavailable: shown(all.desired - available),
    observedGeneration: metadata.generation,
    collisionCount: collisions,
  };
}

/** Zero is omitted. */
const shown = (count: number) => count || undefined;
