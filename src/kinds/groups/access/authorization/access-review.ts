/** Parts that the access reviews share: the spec with a subject, the status, and the rule that metadata is empty. */
import { s } from '../../../../schema/builders.ts';
import { type FieldError, invalid } from '../../../../schema/field-error.ts';
import type { ObjectMeta } from '../../../shapes/meta/object-meta.ts';
import { attributes, oneOfAttributes, selectorsAreValid } from './attributes.ts';

/** The subject and the action to check. */
export const SubjectAccessReviewSpec = s.object(
  'SubjectAccessReviewSpec',
  'The user and the action to check. Exactly one of resourceAttributes and nonResourceAttributes must be set.',
  {
    ...attributes,
    user: s.string(
      'Name of the user to check. Required unless groups are given; with groups only, the question is what their members may do.',
      { omitZero: true },
    ),
    groups: s.list(s.string(), 'Groups the user belongs to.'),
    extra: s.map(
      s.list(s.string()),
      'Further attributes of the user, as an authenticator would supply them: lists of strings by key.',
    ),
    uid: s.string('UID of the user.', { omitZero: true }),
  },
  { zero: true, rules: [oneOfAttributes, userOrGroups, selectorsAreValid] },
);

export const SubjectAccessReviewStatus = s.struct('SubjectAccessReviewStatus', 'The answer, filled in by the server.', {
  allowed: s.boolean('Whether the action is allowed.', { zero: true }),
  denied: s.boolean(
    'Whether an authorizer has explicitly denied the action, so that no other one was asked. If allowed and denied are both false, no authorizer had an opinion and the action is not allowed.',
    { omitZero: true },
  ),
  reason: s.string('Why the action is allowed or denied, where the authorizer says so.', { omitZero: true }),
  evaluationError: s.string(
    'Error that occurred while the action was checked. The answer can still be right: for example, a missing role does not affect permissions granted by others.',
    { omitZero: true },
  ),
});

function userOrGroups({ user = '', groups }: { readonly user?: string; readonly groups?: readonly string[] }) {
  return user || groups ? undefined : invalid('user', user, 'at least one of user or group must be specified');
}

/** A kind's rule: metadata is empty, except for the allowed fields and managedFields. */
export function emptyMetadata(detail: string, ...allowed: readonly (keyof ObjectMeta)[]) {
  return ({ metadata }: { readonly metadata: ObjectMeta }): FieldError[] => {
    const fields = Object.keys(metadata).filter(
      (field) => field !== 'managedFields' && !allowed.some((each) => each === field),
    );
    return fields.length ? [invalid('metadata', metadata, detail)] : [];
  };
}
