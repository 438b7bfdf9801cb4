import { expect, it } from 'vitest';
import { create, update } from '../../../../../test/support/kinds/test-object.ts';
import { ClusterRoleBinding } from './cluster-role-binding.ts';

const binding = (parts: object) => ({
  metadata: { name: 'b' },
  roleRef: { kind: 'ClusterRole', name: 'view' },
  ...parts,
});

it.each<[string, object, string[]]>([
  ['an account', { subjects: [{ kind: 'ServiceAccount', name: 'default', namespace: 'n' }] }, []],
  [
    'an account of no namespace',
    { subjects: [{ kind: 'ServiceAccount', name: 'Default' }] },
    [
      expect.stringContaining('subjects[0].name: Invalid value: "Default": a lowercase RFC 1123 subdomain'),
      'subjects[0].namespace: Required value',
    ],
  ],
  [
    'a role of one namespace',
    { roleRef: { kind: 'Role', name: 'view' } },
    ['roleRef.kind: Unsupported value: "Role": supported values: "ClusterRole"'],
  ],
])('a ClusterRoleBinding with %s is validated', (_what, parts, errors) => {
  expect(create(ClusterRoleBinding, binding(parts)).errors).toEqual(errors);
});

it('a ClusterRoleBinding has an immutable role', () => {
  const { object: old } = create(ClusterRoleBinding, binding({}));
  const { errors } = update(ClusterRoleBinding, old, binding({ roleRef: { kind: 'ClusterRole', name: 'edit' } }));
  expect(errors).toEqual([expect.stringMatching(/^roleRef: Invalid value: .*: cannot change roleRef$/)]);
});
