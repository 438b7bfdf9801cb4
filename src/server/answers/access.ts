/** Questions about rights, answered by who decides them. */
import { badRequest } from '../../base/errors.ts';
import { LocalSubjectAccessReview } from '../../kinds/groups/authorization/local-subject-access-review.ts';
import { SelfSubjectAccessReview } from '../../kinds/groups/authorization/self-subject-access-review.ts';
import { SelfSubjectRulesReview } from '../../kinds/groups/authorization/self-subject-rules-review.ts';
import { SubjectAccessReview } from '../../kinds/groups/authorization/subject-access-review.ts';
import { SelectorError } from '../../schema/selector.ts';
import type { User } from '../api.ts';
import { fieldRequirements, labelRequirements } from '../authz/attributes.ts';
import type { Attributes, SelectorRequirement } from '../authz/authorizer.ts';
import type { Core } from '../core.ts';
import type { Answer } from './answer.ts';

const aboutSomebody: NonNullable<Answer['create']> = (review, core) => answer(core, review, userIn(review.spec));

export const accessReviews: readonly Answer[] = [
  { kind: SubjectAccessReview, create: aboutSomebody },
  { kind: LocalSubjectAccessReview, create: aboutSomebody },
  { kind: SelfSubjectAccessReview, create: (review, core, { user }) => answer(core, review, user) },
  {
    kind: SelfSubjectRulesReview,
    create(review, core, { user }) {
      const { namespace } = review.spec;
      if (!namespace) throw badRequest('no namespace on request');
      const { error, ...rules } = core.authorizer.rulesFor(user, namespace);
      review.status = { ...structuredClone(rules), ...(error ? { evaluationError: error } : {}) };
    },
  },
];

async function answer(core: Core, review: any, user: User): Promise<void> {
  const { attributes, trouble } = attributesIn(review.spec, user);
  const { verdict, reason, error } = await core.authorizer.authorize(attributes);
  const evaluationError = [trouble, error].filter((text) => text).join(', ');
  review.status = {
    allowed: verdict === 'allow',
    ...(verdict === 'deny' ? { denied: true } : {}),
    ...(reason ? { reason } : {}),
    ...(evaluationError ? { evaluationError } : {}),
  };
}

function userIn({ user = '', groups = [], uid, extra }: any): User {
  return { name: user, groups, ...(uid ? { uid } : {}), ...(extra ? { extra } : {}) };
}

interface Question {
  readonly attributes: Attributes;
  /** What could not be understood; without it, more is asked for than was meant. */
  readonly trouble: string | undefined;
}

function attributesIn({ resourceAttributes: asked, nonResourceAttributes: path }: any, user: User): Question {
  if (path) return { attributes: { user, verb: path.verb ?? '', path: path.path ?? '' }, trouble: undefined };
  const { verb = '', group = '', version = '', resource = '', subresource = '', namespace = '', name = '' } = asked;
  const fields = requirementsOf(asked.fieldSelector, fieldRequirements);
  const labels = requirementsOf(asked.labelSelector, labelRequirements);
  const trouble = [fields.trouble, labels.trouble].filter((text) => text).join(', ');
  return {
    attributes: {
      ...{ user, verb, group, version, resource, subresource, namespace, name },
      fieldSelector: fields.found,
      labelSelector: labels.found,
    },
    trouble,
  };
}

type Parse = (text: string) => readonly SelectorRequirement[];
type Requirements = { readonly found: readonly SelectorRequirement[] | undefined; readonly trouble?: string };

function requirementsOf(selector: any, parse: Parse): Requirements {
  if (!selector?.rawSelector) return { found: selector?.requirements };
  try {
    return { found: parse(selector.rawSelector) };
  } catch (error) {
    if (error instanceof SelectorError) return { found: undefined, trouble: error.message };
    throw error;
  }
}
