import { s } from '../../../../schema/builders.ts';
import { pathSegment } from '../../../../schema/names.ts';
import { defineKind, type ObjectOf } from '../../../kind.ts';
import { bindingColumns } from './binding-columns.ts';
import { roleRefIsImmutable, roleRefTo } from './role-ref.ts';
import { ClusterSubject } from './subject.ts';

/** Grants a ClusterRole cluster-wide. */
export const ClusterRoleBinding = defineKind({
  kind: 'ClusterRoleBinding',
  scope: 'Cluster',
  description:
    'Grants the permissions of a ClusterRole to users, groups and service accounts, in all namespaces and for cluster-scoped resources.',
  versions: { 'rbac.authorization.k8s.io/v1': {}, 'rbac.authorization.k8s.io/v1beta1': {} },
  fields: {
    roleRef: roleRefTo(['ClusterRole']),
    subjects: s.list(ClusterSubject, 'Users, groups and service accounts that the role is granted to.'),
  },
  name: pathSegment,
  rules: [roleRefIsImmutable],
  createOnUpdate: true,
  columns: bindingColumns,
});
export type ClusterRoleBinding = ObjectOf<typeof ClusterRoleBinding>;
