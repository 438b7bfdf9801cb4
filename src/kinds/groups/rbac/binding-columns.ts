import { age, type Column, name, text, wide } from '../../columns/column.ts';

/** Table columns of RoleBindings and ClusterRoleBindings. */
export const bindingColumns: readonly Column[] = [
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

function namesOf({ subjects = [] }: any, wanted: string): string {
  return subjects
    .filter(({ kind }: any) => kind === wanted)
    .map((subject: any) => (wanted === 'ServiceAccount' ? `${subject.namespace ?? ''}/${subject.name}` : subject.name))
    .join(', ');
}
