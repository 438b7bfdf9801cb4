import { s } from '../../../schema/builders.ts';
import { pathSegment } from '../../../schema/names.ts';
import { createdAt, name } from '../../columns/column.ts';
import { defineKind, type ObjectOf } from '../../kind.ts';
import { NamespacedRule } from './policy-rule.ts';
import { GROUP, versionsOf } from './versions.ts';

/** What may be done in one namespace. */
export const Role = defineKind({
  group: GROUP,
  kind: 'Role',
  plural: 'roles',
  scope: 'Namespaced',
  description: 'A set of permissions in one namespace. A RoleBinding gives them to somebody.',
  versions: versionsOf('Role'),
  fields: {
    rules: s.list(NamespacedRule, { default: [], description: 'What is allowed; nothing is ever forbidden.' }),
  },
  name: pathSegment,
  createOnUpdate: true,
  columns: [name, createdAt],
});
export type Role = ObjectOf<typeof Role>;
