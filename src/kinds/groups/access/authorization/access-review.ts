/** Parts that the access reviews share: the spec with a subject, the status, and the rule that metadata is empty. */
import { s } from '../../../../schema/builders.ts';
import { type FieldError, invalid } from '../../../../schema/field-error.ts';
import type { ObjectMeta } from '../../../shapes/meta/object-meta.ts';
import { attributes, oneOfAttributes, selectorsAreValid } from './attributes.ts';

/** The subject and the action to check. */
export const SubjectAccessReviewSpec = s.object(
  'SubjectAccessReviewSpec',
  {
    ...attributes,
    user: s.string({
      omitZero: true,
      description:
        'Name of the user to check. Required unless groups are given; with groups only, the question is what their members may do.',
    }),
    groups: s.list(s.string(), { description: 'Groups the user belongs to.' }),
    extra: s.map(s.list(s.string()), {
      description: 'Further attributes of the user, as an authenticator would supply them: lists of strings by key.',
    }),
    uid: s.string({ omitZero: true, description: 'UID of the user.' }),
  },
  {
    zero: true,
    rules: [oneOfAttributes, userOrGroups, selectorsAreValid],
    description:
      'The user and the action to check. Exactly one of resourceAttributes and nonResourceAttributes must be set.',
  },
);

export const SubjectAccessReviewStatus = s.object(
  'SubjectAccessReviewStatus',
  {
    allowed: s.boolean({ zero: true, description: 'Whether the action is allowed.' }),
    denied: s.boolean({
      omitZero: true,
      description:
        'Whether an authorizer has explicitly denied the action, so that no other one was asked. If allowed and denied are both false, no authorizer had an opinion and the action is not allowed.',
    }),
    reason: s.string({
      omitZero: true,
      description: 'Why the action is allowed or denied, where the authorizer says so.',
    }),
    evaluationError: s.string({
      omitZero: true,
      description:
        'Error that occurred while the action was checked. The answer can still be right: for example, a missing role does not affect permissions granted by others.',
    }),
  },
  { default: {}, description: 'The answer, filled in by the server.' },
);

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
