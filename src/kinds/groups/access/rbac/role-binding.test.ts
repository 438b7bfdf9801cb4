import { expect, it } from 'vitest';
import { create, shown, update } from '../../../../../test/support/kinds/test-object.ts';
import { RoleBinding } from './role-binding.ts';

const GROUP = 'rbac.authorization.k8s.io';
const roleRef = { kind: 'Role', name: 'reader' };
const binding = (parts: object) => ({ metadata: { name: 'b', namespace: 'n' }, roleRef, ...parts });

it('a RoleBinding defaults the API groups of role and subjects', () => {
  const subjects = [
    { kind: 'User', name: 'jane' },
    { kind: 'Group', name: 'devs', apiGroup: '' },
    { kind: 'ServiceAccount', name: 'default', namespace: 'n' },
  ];
  const { object, errors } = create(RoleBinding, binding({ subjects }));
  expect(errors).toEqual([]);
  expect(object.roleRef).toEqual({ ...roleRef, apiGroup: GROUP });
  expect(object.subjects?.map(({ apiGroup }) => apiGroup)).toEqual([GROUP, GROUP, undefined]);
});

it.each<[string, object, ...string[]]>([
  ['nobody', {}],
  ['a role of the cluster', { roleRef: { kind: 'ClusterRole', name: 'system:node' } }],
  ['an account of its own namespace', { subjects: [{ kind: 'ServiceAccount', name: 'default' }] }],
  [
    'no role',
    { roleRef: undefined },
    'roleRef.kind: Unsupported value: "": supported values: "Role", "ClusterRole"',
    'roleRef.name: Required value',
  ],
  [
    'something else',
    { roleRef: { apiGroup: 'apps', kind: 'Deployment', name: 'a/b' } },
    `roleRef.apiGroup: Unsupported value: "apps": supported values: "${GROUP}"`,
    'roleRef.kind: Unsupported value: "Deployment": supported values: "Role", "ClusterRole"',
    'roleRef.name: Invalid value: "a/b": may not contain \'/\'',
  ],
  [
    'a robot without a name',
    { subjects: [{ kind: 'Robot' }] },
    'subjects[0].name: Required value',
    'subjects[0].kind: Unsupported value: "Robot": supported values: "ServiceAccount", "User", "Group"',
  ],
  [
    'a user of another group',
    { subjects: [{ kind: 'User', name: 'jane', apiGroup: 'apps' }] },
    `subjects[0].apiGroup: Unsupported value: "apps": supported values: "${GROUP}"`,
  ],
  [
    'an account of a group',
    { subjects: [{ kind: 'ServiceAccount', name: 'default', apiGroup: 'apps' }] },
    'subjects[0].apiGroup: Unsupported value: "apps": supported values: ""',
  ],
])('a RoleBinding with %s is validated', (_what, parts, ...errors) => {
  expect(create(RoleBinding, binding(parts)).errors).toEqual(errors);
});

it('a RoleBinding has an immutable role, and mutable subjects', () => {
  const { object: old } = create(RoleBinding, binding({ subjects: [{ kind: 'User', name: 'jane' }] }));
  expect(update(RoleBinding, old, binding({ subjects: [{ kind: 'User', name: 'joe' }] })).errors).toEqual([]);
  expect(update(RoleBinding, old, binding({ roleRef: { kind: 'Role', name: 'writer' } })).errors).toEqual([
    `roleRef: Invalid value: {"APIGroup":"${GROUP}","Kind":"Role","Name":"writer"}: cannot change roleRef`,
  ]);
});

it('a RoleBinding is the same in v1beta1', () => {
  const apiVersion = `${GROUP}/v1beta1`;
  const { object } = create(RoleBinding, { ...binding({}), apiVersion, kind: 'RoleBinding' }, { apiVersion });
  expect(shown(RoleBinding, object, apiVersion)).toEqual({ ...object, apiVersion });
});
