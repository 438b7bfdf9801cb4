import { s } from '../../../../schema/builders.ts';
import { pathSegment } from '../../../../schema/names.ts';
import { createdAt, name } from '../../../columns/column.ts';
import { defineKind, type ObjectOf } from '../../../kind.ts';
import { NamespacedRule } from './policy-rule.ts';

/** Permissions in one namespace. */
export const Role = defineKind({
  kind: 'Role',
  scope: 'Namespaced',
  description: 'A set of permissions within one namespace, granted with RoleBindings of the same namespace.',
  versions: { 'rbac.authorization.k8s.io/v1': {}, 'rbac.authorization.k8s.io/v1beta1': {} },
  fields: {
    rules: s.list(NamespacedRule, 'Permissions of the role. They only ever allow; there are no deny rules.', {
      default: [],
    }),
  },
  name: pathSegment,
  createOnUpdate: true,
  columns: [name, createdAt],
});
export type Role = ObjectOf<typeof Role>;
