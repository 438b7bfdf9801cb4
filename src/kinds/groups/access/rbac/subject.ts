/** The subjects of bindings. */
import { s } from '../../../../schema/builders.ts';
import { type FieldError, invalid, notSupported, required } from '../../../../schema/field-error.ts';
import { dnsSubdomain } from '../../../../schema/names.ts';
import type { ObjectType, Rule } from '../../../../schema/schema.ts';
import { GROUP } from './role-ref.ts';

const kinds = ['ServiceAccount', 'User', 'Group'];

const fields = {
  kind: s.string('`User`, `Group` or `ServiceAccount`. Required.', { zero: true }),
  apiGroup: s.string(
    'API group of the subject: rbac.authorization.k8s.io for users and groups, empty for service accounts. Filled in from kind by default.',
    {
      omitZero: true,
      default: ({ kind }: { kind?: string }): string | undefined =>
        kind === 'User' || kind === 'Group' ? GROUP : undefined,
    },
  ),
  name: s.string('Name of the user, group or service account. Required.', { zero: true, required: true }),
  namespace: s.string('Namespace of a service account. Required in a ClusterRoleBinding. Users and groups have none.', {
    omitZero: true,
  }),
};

export type Subject = ObjectType<typeof fields>;

/** Subject of a RoleBinding, where the namespace of a service account may be left out. */
export const NamespacedSubject = s.object(
  'Subject',
  'A user, group or service account that a role is granted to.',
  fields,
  { atomic: true, rules: [identity({ needsNamespace: false })] },
);

export const ClusterSubject = s.object(
  'Subject',
  'A user, group or service account that a role is granted to.',
  fields,
  { atomic: true, rules: [identity({ needsNamespace: true })] },
);

function identity({ needsNamespace }: { readonly needsNamespace: boolean }): Rule<Subject> {
  return ({ kind, apiGroup = '', name, namespace }) => {
    switch (kind) {
      case 'ServiceAccount': {
        const found: FieldError[] = name ? dnsSubdomain(name).map((each) => invalid('name', name, each)) : [];
        if (apiGroup) found.push(notSupported('apiGroup', apiGroup, ['']));
        if (needsNamespace && !namespace) found.push(required('namespace'));
        return found;
      }
      case 'User':
      case 'Group':
        return apiGroup === GROUP ? undefined : notSupported('apiGroup', apiGroup, [GROUP]);
      default:
        return notSupported('kind', kind, kinds);
    }
  };
}
