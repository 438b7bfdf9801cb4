/** The senders of requests that a FlowSchema matches. */
import { s } from '../../../schema/builders.ts';
import { type FieldError, forbidden, invalid, notSupported, required, under } from '../../../schema/field-error.ts';
import { dnsLabel, dnsSubdomain } from '../../../schema/names.ts';
import type { ObjectType } from '../../../schema/schema.ts';

/** The kinds of subjects, and the field of each. */
const kinds = { Group: 'group', ServiceAccount: 'serviceAccount', User: 'user' } as const;
type SubjectKind = keyof typeof kinds;
const kindNames = Object.keys(kinds) as SubjectKind[];

const subject = {
  kind: s.string({
    zero: true,
    description: '`User`, `Group` or `ServiceAccount`. The field of the same name must be set, and no other.',
  }),
  user: s.object(
    'UserSubject',
    { name: s.string({ zero: true, description: 'Name of the user, or `*` for every user. Required.' }) },
    { description: 'Matches requests by user name.' },
  ),
  group: s.object(
    'GroupSubject',
    {
      name: s.string({
        zero: true,
        description:
          'Name of the group, or `*` for every group. system:authenticated and system:unauthenticated together cover all requests. Required.',
      }),
    },
    { description: 'Matches requests by a group of the user.' },
  ),
  serviceAccount: s.object(
    'ServiceAccountSubject',
    {
      namespace: s.string({ zero: true, description: 'Namespace of the service account. Required.' }),
      name: s.string({
        zero: true,
        description: 'Name of the service account, or `*` for every account of the namespace. Required.',
      }),
    },
    { description: 'Matches requests by service account.' },
  ),
};
type Subject = ObjectType<typeof subject>;

export const FlowSubject = s.object('Subject', subject, {
  rules: [fitsItsKind],
  description: 'A user, group or service account that sends requests.',
});

function fitsItsKind(subject: Subject): FieldError[] {
  const kind = kindNames.find((name) => name === subject.kind);
  if (!kind) return [notSupported('kind', subject.kind, kindNames)];
  const field = kinds[kind];
  const found = subject[field]
    ? under(field, identity(subject, kind))
    : [required(field, `${field} is required when subject kind is '${kind}'`)];
  for (const other of ['ServiceAccount', 'User', 'Group'] as const) {
    const name = kinds[other];
    if (other === kind || !subject[name]) continue;
    found.push(forbidden(name, `${name} is forbidden when subject kind is not '${other}'`));
  }
  return found;
}

function identity(subject: Subject, kind: SubjectKind): FieldError[] {
  const name = subject[kinds[kind]]?.name ?? '';
  const found: FieldError[] = name ? [] : [required('name')];
  if (kind !== 'ServiceAccount') return found;
  if (name && name !== '*') for (const complaint of dnsSubdomain(name)) found.push(invalid('name', name, complaint));
  const namespace = subject.serviceAccount?.namespace ?? '';
  if (!namespace) found.push(required('namespace', 'must specify namespace for service account'));
  else for (const complaint of dnsLabel(namespace)) found.push(invalid('namespace', namespace, complaint));
  return found;
}
