import { expect, test } from 'vitest';
import { create, update } from '../../../../../test/support/kinds/test-object.ts';
import { ResourceQuota } from './resource-quota.ts';

const quota = (spec: object) => ({ metadata: { name: 'q' }, spec });
const errorsOf = (spec: object) => create(ResourceQuota, quota(spec)).errors;
const requirement = (scopeName: string, operator: string, values?: string[]) => ({
  scopeSelector: { matchExpressions: [{ scopeName, operator, ...(values ? { values } : {}) }] },
});

test('a new quota has counted nothing yet', () => {
  const { object, errors } = create(ResourceQuota, quota({ hard: { pods: '4', 'requests.cpu': '1500m' } }));
  expect(errors).toEqual([]);
  expect(object.status).toEqual({});
});

test('the limits of a quota have known names and fitting amounts', () => {
  const hard = { pods: '1.5', cpu: '-1', storage: '1', 'requests.example.com/gpu': '2', 'count/jobs.batch': '3' };
  expect(errorsOf({ hard })).toEqual([
    'spec.hard[pods]: Invalid value: "1500m": must be an integer',
    'spec.hard[cpu]: Invalid value: "-1": must be greater than or equal to 0',
    'spec.hard[storage]: Invalid value: "storage": must be a standard resource for quota',
  ]);
  expect(errorsOf({ hard: { apples: '1' } })).toEqual([
    'spec.hard[apples]: Invalid value: "apples": must be a standard resource type or fully qualified',
    'spec.hard[apples]: Invalid value: "apples": must be a standard resource for quota',
  ]);
  expect(errorsOf({ hard: { 'hugepages-2Mi': '2Mi', 'requests.hugepages-1Gi': '1Gi' } })).toEqual([]);
});

test.each<[string, object, string[]]>([
  ['are known', { scopes: ['Sunday'] }, ['spec.scopes: Invalid value: ["Sunday"]: unsupported scope']],
  [
    'go with their resources',
    { hard: { cpu: '1', 'example.com/x': '1' }, scopes: ['BestEffort'] },
    ['spec.scopes: Invalid value: ["BestEffort"]: unsupported scope applied to resource'],
  ],
  [
    'do not exclude each other',
    { scopes: ['Terminating', 'NotTerminating'] },
    ['spec.scopes: Invalid value: ["Terminating","NotTerminating"]: conflicting scopes'],
  ],
  ['of pods', { hard: { pods: '1', 'limits.memory': '1Gi' }, scopes: ['NotBestEffort', 'Terminating'] }, []],
  ['of claims', { hard: { persistentvolumeclaims: '1' }, scopes: ['VolumeAttributesClass'] }, []],
])('scopes %s', (_what, spec, errors) => {
  expect(errorsOf(spec)).toEqual(errors);
});

test('scopes are for good, in any order', () => {
  const old = create(ResourceQuota, quota({ scopes: ['Terminating', 'NotBestEffort'] })).object;
  const changed = (scopes: string[]) => update(ResourceQuota, old, quota({ scopes })).errors;
  expect(changed(['NotBestEffort', 'Terminating'])).toEqual([]);
  expect(changed(['Terminating'])).toEqual(['spec.scopes: Invalid value: ["Terminating"]: field is immutable']);
  expect(changed([])).toEqual(['spec.scopes: Invalid value: null: field is immutable']);
});

const at = 'spec.scopeSelector.matchExpressions';

test.each<[string, object, ...string[]]>([
  ['names a class', requirement('PriorityClass', 'In', ['high'])],
  ['names no class', requirement('PriorityClass', 'DoesNotExist')],
  [
    'names classes of what has none',
    requirement('BestEffort', 'In', ['high']),
    `${at}.operator: Invalid value: "In": must be 'Exists' when scope is any of ResourceQuotaScopeTerminating, ResourceQuotaScopeNotTerminating, ResourceQuotaScopeBestEffort, ResourceQuotaScopeNotBestEffort or ResourceQuotaScopeCrossNamespacePodAffinity`,
  ],
  [
    'compares with nothing',
    requirement('PriorityClass', 'NotIn'),
    `${at}.values: Required value: must be at least one value when \`operator\` is 'In' or 'NotIn' for scope selector`,
  ],
  [
    'compares what it need not',
    requirement('PriorityClass', 'Exists', ['high']),
    `${at}.values: Invalid value: ["high"]: must be no value when \`operator\` is 'Exist' or 'DoesNotExist' for scope selector`,
  ],
  [
    'compares in its own way',
    requirement('Tuesday', 'Like'),
    `${at}.scopeName: Invalid value: "Tuesday": unsupported scope`,
    `${at}.operator: Invalid value: "Like": not a valid selector operator`,
  ],
  [
    'contradicts itself',
    {
      scopeSelector: {
        matchExpressions: ['BestEffort', 'NotBestEffort'].map((scopeName) => ({ scopeName, operator: 'Exists' })),
      },
    },
    `${at}: Invalid value: null: conflicting scopes`,
  ],
])('a scope selector %s', (_what, spec, ...errors) => {
  expect(errorsOf(spec)).toEqual(errors);
});

test('the usage of a quota is validated by the same rules', () => {
  const old = create(ResourceQuota, quota({ hard: { pods: '1' } })).object;
  const body = { ...old, status: { hard: { pods: '1' }, used: { pods: '0.5' } } };
  expect(update(ResourceQuota, old, body, { subresource: 'status' }).errors).toEqual([
    'status.used[pods]: Invalid value: "500m": must be an integer',
  ]);
});
