import { expect, it } from 'vitest';
import { create } from '../../../../../test/support/kinds/test-object.ts';
import { ClusterRole } from './cluster-role.ts';

const clusterRole = (parts: object) => ({ metadata: { name: 'admin' }, ...parts });

it.each<[string, object, ...string[]]>([
  ['nothing', {}],
  ['paths', { rules: [{ verbs: ['get'], nonResourceURLs: ['/healthz', '/metrics/*'] }] }],
  [
    'paths and names',
    { rules: [{ verbs: ['get'], nonResourceURLs: ['*'], resourceNames: ['a'] }] },
    'rules[0].nonResourceURLs: Invalid value: ["*"]: rules cannot apply to both regular resources and non-resource URLs',
  ],
  [
    'rules of others',
    { aggregationRule: { clusterRoleSelectors: [{ matchLabels: { 'rbac.example.com/admin': 'true' } }] } },
  ],
  [
    'rules of nobody',
    { aggregationRule: {} },
    'aggregationRule.clusterRoleSelectors: Required value: at least one clusterRoleSelector required if aggregationRule is non-nil',
  ],
  [
    'a selector that nobody understands',
    { aggregationRule: { clusterRoleSelectors: [{ matchExpressions: [{ key: 'a', operator: 'Like' }] }] } },
    'aggregationRule.clusterRoleSelectors[0].matchExpressions[0].operator: Invalid value: "Like": not a valid selector operator',
    'aggregationRule.clusterRoleSelectors[0]: Invalid value: null: invalid label selector.',
  ],
])('a ClusterRole with %s is validated', (_what, parts, ...errors) => {
  expect(create(ClusterRole, clusterRole(parts)).errors).toEqual(errors);
});
