import { expect, it } from 'vitest';
import { create, shown, update } from '../../../../../test/support/kinds/test-object.ts';
import { Role } from './role.ts';

const role = (...rules: object[]) => ({ metadata: { name: 'reader', namespace: 'n' }, rules });
const pods = { apiGroups: [''], resources: ['pods'], verbs: ['get', 'list'] };

it('a Role defaults to no rules', () => {
  expect(create(Role, { metadata: { name: 'reader' } })).toEqual({
    object: { metadata: { name: 'reader' }, rules: [] },
    errors: [],
  });
});

it('a Role may have a name that is not a DNS name', () => {
  expect(Role.name?.('system:controller:Bootstrap', false)).toEqual([]);
  expect(Role.name?.('a/b', false)).toEqual(["may not contain '/'"]);
  expect(Role.name?.('..', false)).toEqual(["may not be '..'"]);
});

it.each<[string, object, ...string[]]>([
  ['resources', pods],
  ['names of objects', { ...pods, resourceNames: ['a'] }],
  ['no verb', { ...pods, verbs: [] }, 'rules[0].verbs: Required value: verbs must contain at least one value'],
  [
    'no resource',
    { verbs: ['get'] },
    'rules[0].apiGroups: Required value: resource rules must supply at least one api group',
    'rules[0].resources: Required value: resource rules must supply at least one resource',
  ],
  [
    'paths',
    { verbs: ['get'], nonResourceURLs: ['/healthz'] },
    'rules[0].nonResourceURLs: Invalid value: ["/healthz"]: namespaced rules cannot apply to non-resource URLs',
  ],
  [
    'paths and resources',
    { ...pods, nonResourceURLs: ['*'] },
    'rules[0].nonResourceURLs: Invalid value: ["*"]: namespaced rules cannot apply to non-resource URLs',
    'rules[0].nonResourceURLs: Invalid value: ["*"]: rules cannot apply to both regular resources and non-resource URLs',
  ],
])('a Role with %s is validated', (_what, rule, ...errors) => {
  expect(create(Role, role(rule)).errors).toEqual(errors);
});

it('a Role is mutable, and can be created by an update', () => {
  const { object } = create(Role, role(pods));
  expect(update(Role, object, role()).errors).toEqual([]);
  expect(Role.createOnUpdate).toBe(true);
});

it('a Role is the same in v1beta1', () => {
  const apiVersion = 'rbac.authorization.k8s.io/v1beta1';
  const { object } = create(Role, { ...role(pods), apiVersion, kind: 'Role' }, { apiVersion });
  expect(object).toMatchObject({ apiVersion: 'rbac.authorization.k8s.io/v1', rules: [pods] });
  expect(shown(Role, object, apiVersion)).toEqual({ ...object, apiVersion });
});
