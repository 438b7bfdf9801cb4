import { age, type ColumnList, name, type Sparse, wide } from '../../../columns/column.ts';
import type { KubeObject } from '../../../kind.ts';
import type { RoleRef } from './role-ref.ts';
import type { Subject } from './subject.ts';

interface Binding extends KubeObject {
  roleRef: RoleRef;
  subjects?: Subject[];
}

/** Table columns of RoleBindings and ClusterRoleBindings. */
export const bindingColumns: ColumnList<Binding> = ({ text }) => [
  name,
  text('Role', 'The role that is granted.', ({ roleRef }) => `${roleRef?.kind ?? ''}/${roleRef?.name ?? ''}`),
  age,
  ...[
    text('Users', 'Users the role is granted to.', (binding) => namesOf(binding, 'User')),
    text('Groups', 'Groups the role is granted to.', (binding) => namesOf(binding, 'Group')),
    text('ServiceAccounts', 'Service accounts the role is granted to.', (binding) =>
      namesOf(binding, 'ServiceAccount'),
    ),
  ].map(wide),
];

function namesOf({ subjects = [] }: Sparse<Binding>, wanted: string): string {
  return subjects
    .filter(({ kind }) => kind === wanted)
    .map((subject) => (wanted === 'ServiceAccount' ? `${subject.namespace ?? ''}/${subject.name}` : subject.name))
    .join(', ');
}
