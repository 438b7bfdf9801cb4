/**
 * A pod that selects other pods in very many ways is not scheduled: each of its terms, constraints and requirements is
 * compared with every pod of the cluster, in one event-loop turn.
 */
import { type Plugin, refusal, SKIP } from '../../framework/plugin.ts';
import type { Pod } from '../../objects.ts';

/** More than the scheduling rules of real pods have, and quick to count among thousands of pods. */
export const MAX_SELECTION = 250;

const TOO_MANY = refusal(
  `the pod's affinity terms and spread constraints have more than ${MAX_SELECTION} requirements`,
);

export const selectorLimit: Plugin = {
  name: 'SelectorLimit',
  preFilter({ pod }) {
    return selectionOf(pod) > MAX_SELECTION ? { type: 'refuse', refusal: TOO_MANY } : SKIP;
  },
  hints: {
    Pod: ({ type, object }, { uid }) =>
      type === 'update' && object.metadata.uid === uid && selectionOf(object) <= MAX_SELECTION,
  },
};

type Constraint = NonNullable<Pod['spec']['topologySpreadConstraints']>[number];
type Selector = Constraint['labelSelector'];
interface Selecting {
  readonly labelSelector?: Selector;
  readonly namespaceSelector?: Selector;
}

/** How many terms and constraints a pod has, and requirements in them. */
function selectionOf({ spec }: Pod): number {
  let sum = 0;
  for (const { labelSelector, namespaceSelector } of selecting(spec)) {
    sum += 1 + requirementsOf(labelSelector) + requirementsOf(namespaceSelector);
  }
  return sum;
}

function selecting({ affinity, topologySpreadConstraints = [] }: Pod['spec']): readonly Selecting[] {
  const found: Selecting[] = [...topologySpreadConstraints];
  for (const rules of [affinity?.podAffinity, affinity?.podAntiAffinity]) {
    for (const term of rules?.requiredDuringSchedulingIgnoredDuringExecution ?? []) found.push(term);
    for (const { podAffinityTerm } of rules?.preferredDuringSchedulingIgnoredDuringExecution ?? []) {
      found.push(podAffinityTerm);
    }
  }
  return found;
}

function requirementsOf(selector: Selector): number {
  if (!selector) return 0;
  return Object.keys(selector.matchLabels ?? {}).length + (selector.matchExpressions?.length ?? 0);
}
