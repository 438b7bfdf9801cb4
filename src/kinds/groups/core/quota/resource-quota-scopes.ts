/** The scopes of a quota, the resources that each can limit, and their selectors. Paths are relative to the spec. */
import { getOrInsert } from '../../../../base/collections/get-or-insert.ts';
import { type FieldError, invalid, required } from '../../../../schema/field-error.ts';
import type { RuleContext } from '../../../../schema/schema.ts';
import type { Requirement } from '../../../quota/evaluator.ts';
import type { ResourceList } from '../../../shapes/container/resources.ts';
import { isQuotaName } from '../../../shapes/pod/resource-names.ts';

interface Spec {
  readonly hard?: ResourceList;
  readonly scopes?: readonly string[];
  readonly scopeSelector?: { readonly matchExpressions?: readonly Requirement[] };
}

const ofPods = new Set(['pods', ...['cpu', 'memory'].flatMap((name) => [name, `limits.${name}`, `requests.${name}`])]);

/** The scopes, and the resources that can be limited in each. */
const resourcesOf: ReadonlyMap<string, ReadonlySet<string>> = new Map([
  ['Terminating', ofPods],
  ['NotTerminating', ofPods],
  ['BestEffort', new Set(['pods'])],
  ['NotBestEffort', ofPods],
  ['PriorityClass', ofPods],
  ['CrossNamespacePodAffinity', ofPods],
  ['VolumeAttributesClass', new Set(['persistentvolumeclaims', 'requests.storage'])],
]);

/** Scopes that have no values. */
const withoutValues = ['BestEffort', 'NotBestEffort', 'Terminating', 'NotTerminating', 'CrossNamespacePodAffinity'];

export function scopesFit({ hard = {}, scopes = [] }: Spec): FieldError[] {
  const found: FieldError[] = [];
  const unfitting = misfitsOf(hard);
  for (const scope of scopes) {
    if (found.length >= MAX_ERRORS) break;
    if (!resourcesOf.has(scope)) found.push(invalid('scopes', scopes, 'unsupported scope'));
    for (const _ of unfitting(scope)) found.push(invalid('scopes', scopes, 'unsupported scope applied to resource'));
  }
  for (const _ of conflicts(scopes)) found.push(invalid('scopes', scopes, 'conflicting scopes'));
  return found;
}

export function selectorFits({ hard = {}, scopes, scopeSelector }: Spec): FieldError[] {
  const requirements = scopeSelector?.matchExpressions ?? [];
  const at = 'scopeSelector.matchExpressions';
  const found: FieldError[] = [];
  const unfitting = misfitsOf(hard);
  for (const requirement of requirements) {
    if (found.length >= MAX_ERRORS) break;
    const { scopeName: scope } = requirement;
    if (!resourcesOf.has(scope)) found.push(invalid(`${at}.scopeName`, scope, 'unsupported scope'));
    for (const _ of unfitting(scope)) found.push(invalid(at, scopeSelector, 'unsupported scope applied to resource'));
    for (const each of comparison(requirement, at)) found.push(each);
  }
  const names = requirements.map(({ scopeName }) => scopeName);
  for (const _ of conflicts(names)) found.push(invalid(at, scopes ?? null, 'conflicting scopes'));
  return found;
}

function comparison({ scopeName, operator, values = [] }: Requirement, at: string): FieldError[] {
  const found: FieldError[] = [];
  if (withoutValues.includes(scopeName) && operator !== 'Exists') {
    const detail =
      "must be 'Exists' when scope is any of ResourceQuotaScopeTerminating, ResourceQuotaScopeNotTerminating, ResourceQuotaScopeBestEffort, ResourceQuotaScopeNotBestEffort or ResourceQuotaScopeCrossNamespacePodAffinity";
    found.push(invalid(`${at}.operator`, operator, detail));
  }
  switch (operator) {
    case 'In':
    case 'NotIn':
      if (values.length === 0) {
        const detail = "must be at least one value when `operator` is 'In' or 'NotIn' for scope selector";
        found.push(required(`${at}.values`, detail));
      }
      break;
    case 'Exists':
    case 'DoesNotExist':
      if (values.length > 0) {
        const detail = "must be no value when `operator` is 'Exist' or 'DoesNotExist' for scope selector";
        found.push(invalid(`${at}.values`, values, detail));
      }
      break;
    default:
      found.push(invalid(`${at}.operator`, operator, 'not a valid selector operator'));
  }
  return found;
}

/** Scopes times resources can be wrong; no more errors than these are found. */
const MAX_ERRORS = 1000;

/** Finds the limited resources that a scope does not allow; they are worked out once for each scope. */
function misfitsOf(hard: ResourceList): (scope: string) => readonly string[] {
  const known = new Map<string, readonly string[]>();
  const names = Object.keys(hard).filter(isQuotaName);
  return (scope) => {
    const fitting = resourcesOf.get(scope);
    if (!fitting) return [];
    return getOrInsert(known, scope, () => names.filter((name) => !fitting.has(name)));
  };
}

const opposites = [
  ['BestEffort', 'NotBestEffort'],
  ['Terminating', 'NotTerminating'],
] as const;

function conflicts(scopes: readonly string[]) {
  return opposites.filter(([one, other]) => scopes.includes(one) && scopes.includes(other));
}

/** Scopes are immutable; their order does not matter. */
export function scopesAreKept({ scopes = [] }: Spec, { old }: RuleContext<Spec>): FieldError | undefined {
  if (!old) return undefined;
  const before = new Set(old.scopes);
  const now = new Set(scopes);
  const same = before.size === now.size && scopes.every((scope) => before.has(scope));
  return same ? undefined : invalid('scopes', scopes.length ? scopes : null, 'field is immutable');
}
