/**
 * What an empty selector of a PodDisruptionBudget means: no pod in policy/v1beta1, all pods in policy/v1. What the one
 * version cannot say with an empty selector, it says with a label that no pod has.
 */
import { clone, deepEqual } from '../../../base/tree.ts';

const MARK = 'pdb.kubernetes.io/deprecated-v1beta1-empty-selector-match';

/** In the stored version. */
const NONE = { matchExpressions: [{ key: MARK, operator: 'Exists' }] };
/** In the older version. */
const ALL = { matchExpressions: [{ key: MARK, operator: 'DoesNotExist' }] };
const EMPTY = {};

/** From the older version to the stored one. */
export function emptySelectsAll(budget: any): any {
  const { selector } = budget.spec;
  if (!selector) return budget;
  if (deepEqual(selector, EMPTY)) return withSelector(budget, NONE);
  return withSelector(budget, deepEqual(selector, ALL) ? EMPTY : unmarked(selector));
}

/** And back. */
export function emptySelectsNone(budget: any): any {
  const { selector } = budget.spec;
  if (!selector) return budget;
  if (deepEqual(selector, NONE)) return withSelector(budget, EMPTY);
  return deepEqual(selector, EMPTY) ? withSelector(budget, ALL) : budget;
}

/** A hook: the label means something only where it stands alone. */
export function withoutMark(budget: any): void {
  const { selector } = budget.spec;
  if (selector && !deepEqual(selector, NONE)) budget.spec = { ...budget.spec, selector: unmarked(selector) };
}

function withSelector(budget: any, selector: object): any {
  return { ...budget, spec: { ...budget.spec, selector: clone(selector) } };
}

function unmarked({ matchExpressions = [], ...selector }: any): any {
  const others = matchExpressions.filter(({ key }: any) => key !== MARK);
  return others.length ? { ...selector, matchExpressions: others } : selector;
}
