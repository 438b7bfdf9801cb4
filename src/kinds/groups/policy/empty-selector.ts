/**
 * Conversion of the selector of a PodDisruptionBudget. An empty selector matches no pod in policy/v1beta1 and all pods
 * in policy/v1; the other meaning is expressed in each version with a label that no pod has.
 */
import { clone, deepEqual } from '../../../base/json/tree.ts';
import type { KubeObject } from '../../kind.ts';
import type { LabelSelector } from '../../shapes/meta/label-selector.ts';

interface Budget extends KubeObject {
  spec: { selector?: LabelSelector };
}

const MARKER_LABEL = 'pdb.kubernetes.io/deprecated-v1beta1-empty-selector-match';

/** Matches no pods in the stored version. */
const SELECTS_NONE = { matchExpressions: [{ key: MARKER_LABEL, operator: 'Exists' }] };
/** Matches all pods in the older version. */
const SELECTS_ALL = { matchExpressions: [{ key: MARKER_LABEL, operator: 'DoesNotExist' }] };
const EMPTY = {};

/** Converts from policy/v1beta1 to the stored version. */
export function selectorToV1(budget: Budget): Budget {
  const { selector } = budget.spec;
  if (!selector) return budget;
  if (deepEqual(selector, EMPTY)) return withSelector(budget, SELECTS_NONE);
  return withSelector(budget, deepEqual(selector, SELECTS_ALL) ? EMPTY : withoutMarker(selector));
}

/** Converts from the stored version to policy/v1beta1. */
export function selectorToV1beta1(budget: Budget): Budget {
  const { selector } = budget.spec;
  if (!selector) return budget;
  if (deepEqual(selector, SELECTS_NONE)) return withSelector(budget, EMPTY);
  return deepEqual(selector, EMPTY) ? withSelector(budget, SELECTS_ALL) : budget;
}

/** A hook: removes the marker label from selectors with other requirements, where it has no meaning. */
export function dropMarker(budget: Budget): void {
  const { selector } = budget.spec;
  if (selector && !deepEqual(selector, SELECTS_NONE))
    budget.spec = { ...budget.spec, selector: withoutMarker(selector) };
}

function withSelector(budget: Budget, selector: LabelSelector): Budget {
  return { ...budget, spec: { ...budget.spec, selector: clone(selector) } };
}

function withoutMarker({ matchExpressions = [], ...selector }: LabelSelector): LabelSelector {
  const others = matchExpressions.filter(({ key }) => key !== MARKER_LABEL);
  return others.length ? { ...selector, matchExpressions: others } : selector;
}
