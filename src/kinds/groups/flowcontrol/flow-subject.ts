/** Who asks. */
import { s } from '../../../schema/builders.ts';
import { type FieldError, forbidden, invalid, notSupported, required, under } from '../../../schema/field-error.ts';
import { dnsLabel, dnsSubdomain } from '../../../schema/names.ts';
import type { ObjectType } from '../../../schema/schema.ts';

/** The kinds of subjects, and the field that each has. */
const kinds = { Group: 'group', ServiceAccount: 'serviceAccount', User: 'user' } as const;
type SubjectKind = keyof typeof kinds;
const kindNames = Object.keys(kinds) as SubjectKind[];

const subject = {
  kind: s.string({ zero: true, description: 'User, Group or ServiceAccount; the field of the same name says which.' }),
  user: s.object('UserSubject', { name: s.string({ zero: true, description: 'A name, or `*` for every user.' }) }),
  group: s.object('GroupSubject', { name: s.string({ zero: true, description: 'A name, or `*` for every group.' }) }),
  serviceAccount: s.object('ServiceAccountSubject', {
    namespace: s.string({ zero: true }),
    name: s.string({ zero: true, description: 'A name, or `*` for every account of the namespace.' }),
  }),
};
type Subject = ObjectType<typeof subject>;

export const FlowSubject = s.object('Subject', subject, { rules: [fitsItsKind] });

function fitsItsKind(who: Subject): FieldError[] {
  const kind = kindNames.find((name) => name === who.kind);
  if (!kind) return [notSupported('kind', who.kind, kindNames)];
  const field = kinds[kind];
  const found = who[field]
    ? under(field, identity(who, kind))
    : [required(field, `${field} is required when subject kind is '${kind}'`)];
  for (const other of ['ServiceAccount', 'User', 'Group'] as const) {
    const name = kinds[other];
    if (other === kind || !who[name]) continue;
    found.push(forbidden(name, `${name} is forbidden when subject kind is not '${other}'`));
  }
  return found;
}

function identity(who: Subject, kind: SubjectKind): FieldError[] {
  const name = who[kinds[kind]]?.name ?? '';
  const found: FieldError[] = name ? [] : [required('name')];
  if (kind !== 'ServiceAccount') return found;
  if (name && name !== '*') for (const complaint of dnsSubdomain(name)) found.push(invalid('name', name, complaint));
  const namespace = who.serviceAccount?.namespace ?? '';
  if (!namespace) found.push(required('namespace', 'must specify namespace for service account'));
  else for (const complaint of dnsLabel(namespace)) found.push(invalid('namespace', namespace, complaint));
  return found;
}
