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
  kind: s.string('`User`, `Group` or `ServiceAccount`. The field of the same name must be set, and no other.', {
    zero: true,
  }),
  user: s.object('UserSubject', 'Matches requests by user name.', {
    name: s.string('Name of the user, or `*` for every user. Required.', { zero: true }),
  }),
  group: s.object('GroupSubject', 'Matches requests by a group of the user.', {
    name: s.string(
      'Name of the group, or `*` for every group. system:authenticated and system:unauthenticated together cover all requests. Required.',
      { zero: true },
    ),
  }),
  serviceAccount: s.object('ServiceAccountSubject', 'Matches requests by service account.', {
    namespace: s.string('Namespace of the service account. Required.', { zero: true }),
    name: s.string('Name of the service account, or `*` for every account of the namespace. Required.', { zero: true }),
  }),
};
type Subject = ObjectType<typeof subject>;

export const FlowSubject = s.object('Subject', 'A user, group or service account that sends requests.', subject, {
  rules: [fitsItsKind],
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
