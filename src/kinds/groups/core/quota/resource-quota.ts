import { compareQuantities, parseQuantity } from '../../../../base/quantity.ts';
import { s } from '../../../../schema/builders.ts';
import { type FieldError, invalid } from '../../../../schema/field-error.ts';
import type { ObjectType } from '../../../../schema/schema.ts';
import { age, name, type Sparse } from '../../../columns/column.ts';
import { defineKind, type KubeObject } from '../../../kind.ts';
import { isWhole, ResourceList } from '../../../shapes/container/resources.ts';
import { isInteger, quotaResourceName } from '../../../shapes/pod/resource-names.ts';
import { scopesAreKept, scopesFit, selectorFits } from './resource-quota-scopes.ts';

/**
 * Maximum number of resources in a quota, which is compared with every object of its namespace. Kubernetes sets no
 * limit.
 */
const MAX_RESOURCES = 2_000;

const Amounts = s.use(ResourceList, { rules: [amounts], maxItems: MAX_RESOURCES });

const ScopeSelector = s.object(
  'ScopeSelector',
  'Selects objects by scope.',
  {
    matchExpressions: s.list(
      s.object('ScopedResourceSelectorRequirement', 'Requirement on the scope of an object.', {
        scopeName: s.string('Scope that the requirement applies to, such as PriorityClass.', { zero: true }),
        operator: s.string('Relation of the scope to the values: In, NotIn, Exists or DoesNotExist.', { zero: true }),
        values: s.list(
          s.string(),
          'Values for In and NotIn, such as names of priority classes. Must be empty for Exists and DoesNotExist.',
        ),
      }),
      'Requirements on scopes, all of which must be met.',
    ),
  },
  { atomic: true },
);

const fields = {
  spec: s.struct(
    'ResourceQuotaSpec',
    'Limits of the quota and the objects that count towards it.',
    {
      hard: s.use(Amounts, 'Limit for each resource, such as pods, requests.cpu or count/deployments.apps.'),
      scopes: s.list(
        s.string(),
        'Scopes that an object must all be in to count: Terminating, NotTerminating, BestEffort, NotBestEffort, ' +
          'PriorityClass, CrossNamespacePodAffinity or VolumeAttributesClass. If empty, all objects count. Cannot ' +
          'be changed.',
      ),
      scopeSelector: s.use(ScopeSelector, 'Like scopes, with operators and values. An object must meet both to count.'),
    },
    { rules: [scopesFit, selectorFits, scopesAreKept] },
  ),
  status: s.struct('ResourceQuotaStatus', 'Enforced limits and current usage. Read-only.', {
    hard: s.use(Amounts, 'Limit of each resource that is being enforced.'),
    used: s.use(Amounts, 'Current usage of each resource in the namespace.'),
  }),
};

export type ResourceQuota = KubeObject & ObjectType<typeof fields>;

/** Limits the total usage of a namespace. */
export const ResourceQuota = defineKind({
  kind: 'ResourceQuota',
  short: ['quota'],
  scope: 'Namespaced',
  description: 'Limits the total compute resources, storage and number of objects of a namespace.',
  versions: { v1: {} },
  fields,
  subresources: { status: true },
  warnings: (quota, old) => (old ? [] : quotaWarnings(quota)),
  columns: ({ text }) => [
    name,
    text('Request', 'Usage and limit of requests and object counts.', (quota) => usageText(quota, false)),
    text('Limit', 'Usage and limit of resource limits.', (quota) => usageText(quota, true)),
    age,
  ],
});

function amounts(list: ResourceList): FieldError[] {
  return Object.entries(list).flatMap(([name, amount]) => {
    const field = `[${name}]`;
    const found = quotaResourceName(name).map((complaint) => invalid(field, name, complaint));
    if (amount.startsWith('-')) found.push(invalid(field, amount, 'must be greater than or equal to 0'));
    if (isInteger(name) && !isWhole(amount)) found.push(invalid(field, amount, 'must be an integer'));
    return found;
  });
}

/** Used and allowed amounts of limits, or of all other resources. */
function usageText({ status }: Sparse<ResourceQuota>, limits: boolean): string {
  const { hard = {}, used = {} } = status ?? {};
  const resources = Object.keys(hard).filter((resource) => resource.startsWith('limits.') === limits);
  return resources
    .sort()
    .map((resource) => `${resource}: ${used[resource] ?? 0}/${hard[resource]}`)
    .join(', ');
}

const COMPARED = ['cpu', 'memory', 'storage', 'ephemeral-storage'];

/** Warns of quotas that allow higher requests than limits. */
function quotaWarnings({ spec }: ResourceQuota): string[] {
  const hard = spec.hard ?? {};
  return COMPARED.flatMap((name) => {
    const bare = name === 'cpu' || name === 'memory';
    const request = hard[`requests.${name}`] === undefined && bare ? name : `requests.${name}`;
    const [asked, most] = [hard[request], hard[`limits.${name}`]];
    if (asked === undefined || most === undefined) return [];
    if (compareQuantities(parseQuantity(asked), parseQuantity(most)) <= 0) return [];
    return [`ResourceQuota ${request} (${asked}) should be less than limits.${name} (${most})`];
  });
}
