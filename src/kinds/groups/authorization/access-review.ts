/** What the reviews of access have in common: whom they ask about, what the answer says, and that they have no name. */
import { s } from '../../../schema/builders.ts';
import { type FieldError, invalid } from '../../../schema/field-error.ts';
import type { ObjectMeta } from '../../shapes/meta/object-meta.ts';
import { attributes, oneQuestion, selectorsAreClear } from './attributes.ts';

/** A question about somebody. */
export const SubjectAccessReviewSpec = s.object(
  'SubjectAccessReviewSpec',
  {
    ...attributes,
    user: s.string({ omitZero: true, description: 'Who wants to do it.' }),
    groups: s.list(s.string(), { description: 'Which groups the user is in.' }),
    extra: s.map(s.list(s.string()), { description: 'What else is known of the user.' }),
    uid: s.string({ omitZero: true, description: 'Tells the user from others of the same name.' }),
  },
  { zero: true, rules: [oneQuestion, aboutSomebody, selectorsAreClear], description: 'What is asked.' },
);

export const SubjectAccessReviewStatus = s.object(
  'SubjectAccessReviewStatus',
  {
    allowed: s.boolean({ zero: true, description: 'Whether it is allowed.' }),
    denied: s.boolean({ omitZero: true, description: 'Whether it is forbidden, whatever anybody else says.' }),
    reason: s.string({ omitZero: true, description: 'Why.' }),
    evaluationError: s.string({
      omitZero: true,
      description: 'What went wrong on the way to the answer, which may be good all the same.',
    }),
  },
  { default: {}, description: 'The answer.' },
);

function aboutSomebody({ user = '', groups }: { readonly user?: string; readonly groups?: readonly string[] }) {
  return user || groups ? undefined : invalid('user', user, 'at least one of user or group must be specified');
}

/** A rule of the whole: a question has no metadata, but for these fields and for what keeps track of fields. */
export function nameless(detail: string, ...allowed: readonly (keyof ObjectMeta)[]) {
  return ({ metadata }: { readonly metadata: ObjectMeta }): FieldError[] => {
    const fields = Object.keys(metadata).filter(
      (field) => field !== 'managedFields' && !allowed.some((each) => each === field),
    );
    return fields.length ? [invalid('metadata', metadata, detail)] : [];
  };
}
