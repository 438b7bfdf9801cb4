/** The reference of a binding to its role. */
import { deepEqual } from '../../../../base/json/tree.ts';
import { s } from '../../../../schema/builders.ts';
import { type FieldError, invalid, notSupported, required } from '../../../../schema/field-error.ts';
import { pathSegment } from '../../../../schema/names.ts';
import type { ObjectType, RuleContext } from '../../../../schema/schema.ts';

/** The API group of roles and of those they are granted to. */
export const GROUP = 'rbac.authorization.k8s.io';

const fields = {
  apiGroup: s.string('API group of the role: rbac.authorization.k8s.io, which is the default.', { default: GROUP }),
  kind: s.string('`ClusterRole`, or, in a RoleBinding, also `Role`. Required.', { zero: true }),
  name: s.string('Name of the role. A Role must be in the namespace of the binding. Required.', { zero: true }),
};

export type RoleRef = ObjectType<typeof fields>;

/** A reference to a role of one of these kinds. */
export const roleRefTo = (kinds: readonly string[]) =>
  s.object(
    'RoleRef',
    'The role that the binding grants. Cannot be changed: delete the binding and create a new one instead.',
    fields,
    { zero: true, atomic: true, rules: [(ref: RoleRef) => roleRefIsValid(ref, kinds)] },
  );

function roleRefIsValid({ apiGroup, kind, name }: RoleRef, kinds: readonly string[]): FieldError[] {
  const found: FieldError[] = [];
  if (apiGroup !== GROUP) found.push(notSupported('apiGroup', apiGroup, [GROUP]));
  if (!kinds.includes(kind)) found.push(notSupported('kind', kind, kinds));
  if (!name) found.push(required('name'));
  else for (const complaint of pathSegment(name)) found.push(invalid('name', name, complaint));
  return found;
}

interface Binding {
  readonly roleRef: RoleRef;
}

/** A kind's rule: the role is immutable, because the right to grant it was checked when the binding was created. */
export function roleRefIsImmutable({ roleRef }: Binding, { oldRoot }: RuleContext<Binding, Binding>): FieldError[] {
  if (!oldRoot || deepEqual(roleRef, oldRoot.roleRef)) return [];
  const { apiGroup, kind, name } = roleRef;
  return [invalid('roleRef', { APIGroup: apiGroup, Kind: kind, Name: name }, 'cannot change roleRef')];
}
