/** Which nodes a DaemonSet is meant for. */
import type { DeepReadonly } from '../../../client/object-types.ts';
import type { Node } from '../../../kinds/groups/core/node/node.ts';
import { requiredNodes } from '../../../kinds/placement/required-nodes.ts';
import { isTolerated } from '../../../kinds/placement/tolerations.ts';
import { type SeenDaemonSet, tolerationsOf } from './daemon-pod.ts';

export type SeenNode = DeepReadonly<Node>;

export interface Verdict {
  /** A pod belongs there. */
  readonly shouldRun: boolean;
  /** One that is there may stay. */
  readonly mayStay: boolean;
}

type Judge = (node: SeenNode) => Verdict;

const YES: Verdict = { shouldRun: true, mayStay: true };
const NO_NEW: Verdict = { shouldRun: false, mayStay: true };
const NO: Verdict = { shouldRun: false, mayStay: false };

/** Templates do not change, so neither do their judges. */
const judges = new WeakMap<object, Judge>();

export function eligibility({ spec }: SeenDaemonSet): Judge {
  const { template } = spec;
  const known = judges.get(template);
  if (known) return known;
  const made = judgeOf(template.spec);
  judges.set(template, made);
  return made;
}

function judgeOf(spec: SeenDaemonSet['spec']['template']['spec']): Judge {
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
}
