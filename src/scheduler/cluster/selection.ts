/** Counts the terms by which a pod selects other pods and nodes. */
import type { Pod } from '../objects.ts';

/**
 * Limit for selecting other pods. More than the scheduling rules of real pods have, and quick to count among thousands
 * of pods: a decision is made in one turn of the event loop.
 */
export const MAX_SELECTION = 250;
/** Limit for selecting nodes. Each term is tested on thousands of them. */
export const MAX_NODE_SELECTION = 500;

type Constraint = NonNullable<Pod['spec']['topologySpreadConstraints']>[number];
type Selector = Constraint['labelSelector'];
interface Selecting {
  readonly labelSelector?: Selector;
  readonly namespaceSelector?: Selector;
}

/** Counts the terms and constraints of a pod, and the requirements in them. */
export function selectionOf({ spec }: Pod): number {
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

/** Counts the terms of node affinity of a pod and their requirements. Values do not count: they are looked up. */
export function nodeSelectionOf({ spec: { affinity } }: Pod): number {
  const { requiredDuringSchedulingIgnoredDuringExecution: required, preferredDuringSchedulingIgnoredDuringExecution } =
    affinity?.nodeAffinity ?? {};
  let sum = 0;
  const add = ({ matchExpressions = NONE, matchFields = NONE }: NodeTerm) => {
    sum += 1 + matchExpressions.length + matchFields.length;
  };
  required?.nodeSelectorTerms.forEach(add);
  for (const { preference } of preferredDuringSchedulingIgnoredDuringExecution ?? NONE) add(preference);
  return sum;
}

const NONE: readonly never[] = Object.freeze([]);

interface NodeTerm {
  readonly matchExpressions?: readonly unknown[];
  readonly matchFields?: readonly unknown[];
}
