import { expect, it } from 'vitest';
import { parsePolicy } from './policy.ts';

const policy = (rules: unknown, more: object = {}) => ({
  apiVersion: 'audit.k8s.io/v1',
  kind: 'Policy',
  rules,
  ...more,
});

it('a policy is returned unchanged when it is valid', () => {
  const given = policy(
    [
      {
        level: 'RequestResponse',
        users: ['a'],
        userGroups: ['g'],
        verbs: ['get'],
        resources: [{ group: '', resources: ['pods', 'pods/*', '*/scale'], resourceNames: ['x'] }, { group: 'apps' }],
        namespaces: ['default', ''],
        omitStages: ['Panic'],
        omitManagedFields: true,
      },
      { level: 'None', nonResourceURLs: ['/healthz*', '*'] },
    ],
    { metadata: { name: 'p' }, omitStages: ['RequestReceived'], omitManagedFields: false },
  );
  expect(parsePolicy(given)).toEqual(given);
});

it.each<[string, unknown, string]>([
  ['nothing', null, 'the policy must be an object'],
  ['another kind', { ...policy([]), kind: 'Pod' }, 'expected kind Policy of audit.k8s.io/v1'],
  ['an old version', { ...policy([]), apiVersion: 'audit.k8s.io/v1beta1' }, 'expected kind Policy of audit.k8s.io/v1'],
  ['no rules', policy([]), 'rules: at least one is required'],
  ['a rule without a level', policy([{}]), 'rules[0].level: Required value'],
  ['another level', policy([{ level: 'All' }]), 'rules[0].level: Unsupported value: "All"'],
  ['a misspelt field', policy([{ level: 'None', user: ['a'] }]), 'rules[0].user: unknown field'],
  ['a string for a list', policy([{ level: 'None', verbs: 'get' }]), 'rules[0].verbs: must be a list of strings'],
  ['another stage', policy([{ level: 'None', omitStages: ['End'] }]), 'rules[0].omitStages[0]: allowed stages are'],
  ['another stage for all', policy([{ level: 'None' }], { omitStages: ['End'] }), 'omitStages[0]: allowed stages'],
  ['a path without a slash', policy([{ level: 'None', nonResourceURLs: ['x'] }]), "must begin with a '/' character"],
  ['a star inside', policy([{ level: 'None', nonResourceURLs: ['/a*b'] }]), "wildcards '*' must be the final"],
  [
    'names of every resource',
    policy([{ level: 'None', resources: [{ resourceNames: ['a'] }] }]),
    'using resourceNames requires at least one resource',
  ],
  [
    'a version in place of a group',
    policy([{ level: 'None', resources: [{ group: 'apps/v1' }] }]),
    'rules[0].resources[0].group: ',
  ],
  [
    'resources and paths',
    policy([{ level: 'None', nonResourceURLs: ['/x'], namespaces: ['n'] }]),
    'rules cannot apply to both regular resources and non-resource URLs',
  ],
])('a policy is rejected with %s', (_what, given, words) => {
  expect(() => parsePolicy(given)).toThrow(words);
});
