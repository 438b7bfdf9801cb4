import { age, type Column, name, text, wide } from '../../columns/column.ts';

/** What tables show of either kind of binding. */
export const bindingColumns: readonly Column[] = [
  name,
  text('Role', 'What it allows.', ({ roleRef }) => `${roleRef?.kind ?? ''}/${roleRef?.name ?? ''}`),
  age,
  ...[
    text('Users', 'The users it allows that.', (binding) => namesOf(binding, 'User')),
    text('Groups', 'The groups it allows that.', (binding) => namesOf(binding, 'Group')),
    text('ServiceAccounts', 'The service accounts it allows that.', (binding) => namesOf(binding, 'ServiceAccount')),
  ].map(wide),
];

function namesOf({ subjects = [] }: any, wanted: string): string {
  return subjects
    .filter(({ kind }: any) => kind === wanted)
    .map((subject: any) => (wanted === 'ServiceAccount' ? `${subject.namespace ?? ''}/${subject.name}` : subject.name))
    .join(', ');
}
