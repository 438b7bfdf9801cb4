import { s } from '../../../../schema/builders.ts';
import { pathSegment } from '../../../../schema/names.ts';
import { defineKind, type ObjectOf } from '../../../kind.ts';
import { bindingColumns } from './binding-columns.ts';
import { roleRefIsImmutable, roleRefTo } from './role-ref.ts';
import { NamespacedSubject } from './subject.ts';

/** Grants a Role or ClusterRole in one namespace. */
export const RoleBinding = defineKind({
  kind: 'RoleBinding',
  scope: 'Namespaced',
  description:
    'Grants the permissions of a Role or ClusterRole to users, groups and service accounts, in the namespace of the binding only.',
  versions: { 'rbac.authorization.k8s.io/v1': {}, 'rbac.authorization.k8s.io/v1beta1': {} },
  fields: {
    roleRef: roleRefTo(['Role', 'ClusterRole']),
    subjects: s.list(NamespacedSubject, 'Users, groups and service accounts that the role is granted to.'),
  },
  name: pathSegment,
  rules: [roleRefIsImmutable],
  createOnUpdate: true,
  columns: bindingColumns,
});
export type RoleBinding = ObjectOf<typeof RoleBinding>;
