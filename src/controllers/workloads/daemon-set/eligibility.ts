/** Selects the nodes that a DaemonSet runs on. */

import type { SeenNode } from '../../../api/seen-objects.ts';
import { memoized } from '../../../base/collections/memoized.ts';
import { requiredNodes } from '../../../kinds/placement/required-nodes.ts';
import { isTolerated } from '../../../kinds/placement/tolerations.ts';
import { type SeenDaemonSet, tolerationsOf } from './daemon-pod.ts';

export interface Eligibility {
  /** True when a pod should run on the node. */
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
