import { compareQuantities, parseQuantity } from '../../../base/quantity.ts';
import { s } from '../../../schema/builders.ts';
import { type FieldError, invalid } from '../../../schema/field-error.ts';
import type { ObjectType } from '../../../schema/schema.ts';
import { age, name, text } from '../../columns/column.ts';
import { defineKind, type KubeObject } from '../../kind.ts';
import { isWhole, ResourceList } from '../../shapes/container/resources.ts';
import { isInteger, quotaResourceName } from '../../shapes/pod/resource-names.ts';
import { scopesAreKept, scopesFit, selectorFits } from './resource-quota-scopes.ts';

const Amounts = s.use(ResourceList, { rules: [amounts] });

const ScopeSelector = s.object(
  'ScopeSelector',
  {
    matchExpressions: s.list(
      s.object('ScopedResourceSelectorRequirement', {
        scopeName: s.string({ zero: true, description: 'The scope that is looked at.' }),
        operator: s.string({ zero: true, description: 'In, NotIn, Exists or DoesNotExist.' }),
        values: s.list(s.string(), { description: 'What In and NotIn compare with.' }),
      }),
      { description: 'Requirements, all of which must hold.' },
    ),
  },
  { atomic: true },
);

const fields = {
  spec: s.object(
    'ResourceQuotaSpec',
    {
      hard: s.use(Amounts, {
        description: 'How much of each resource there may be, such as `pods` or `requests.cpu`.',
      }),
      scopes: s.list(s.string(), { description: 'What counts, such as BestEffort; without a scope, everything does.' }),
      scopeSelector: s.use(ScopeSelector, { description: 'What counts, told in more detail.' }),
    },
    { default: {}, rules: [scopesFit, selectorFits, scopesAreKept], description: 'What is limited.' },
  ),
  status: s.object(
    'ResourceQuotaStatus',
    {
      hard: s.use(Amounts, { description: 'The limits that are in force.' }),
      used: s.use(Amounts, { description: 'How much there is.' }),
    },
    { default: {}, description: 'How much of it is used up.' },
  ),
};

export type ResourceQuota = KubeObject & ObjectType<typeof fields>;

/** How much a namespace may use altogether. */
export const ResourceQuota = defineKind({
  group: '',
  kind: 'ResourceQuota',
  plural: 'resourcequotas',
  short: ['quota'],
  scope: 'Namespaced',
  description: 'How much compute, storage and how many objects a namespace may have altogether.',
  versions: { v1: {} },
  fields,
  subresources: { status: true },
  warnings: (quota, old) => (old ? [] : quotaWarnings(quota)),
  columns: [
    name,
    text('Request', 'What is used of what may be asked for.', (quota) => usageText(quota, false)),
    text('Limit', 'What is used of what may be had at most.', (quota) => usageText(quota, true)),
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

/** What is used of what is allowed, of limits or of everything else. */
function usageText({ status }: any, limits: boolean): string {
  const { hard = {}, used = {} } = status ?? {};
  const resources = Object.keys(hard).filter((resource) => resource.startsWith('limits.') === limits);
  return resources
    .sort()
    .map((resource) => `${resource}: ${used[resource] ?? 0}/${hard[resource]}`)
    .join(', ');
}

const COMPARED = ['cpu', 'memory', 'storage', 'ephemeral-storage'];

/** More may be requested than may be used. */
function quotaWarnings({ spec }: any): string[] {
  const hard: Readonly<Record<string, string>> = spec?.hard ?? {};
  return COMPARED.flatMap((name) => {
    const bare = name === 'cpu' || name === 'memory';
    const request = hard[`requests.${name}`] === undefined && bare ? name : `requests.${name}`;
    const [asked, most] = [hard[request], hard[`limits.${name}`]];
    if (asked === undefined || most === undefined) return [];
    if (compareQuantities(parseQuantity(asked), parseQuantity(most)) <= 0) return [];
    return [`ResourceQuota ${request} (${asked}) should be less than limits.${name} (${most})`];
  });
}
