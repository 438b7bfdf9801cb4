/** Reviews of access, decided by the server's authorizer. */
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
import type { VirtualResource } from './virtual-resource.ts';

const reviewOfSpecUser: NonNullable<VirtualResource['create']> = (review, core) =>
  decide(core, review, userIn(review.spec));

export const accessReviews: readonly VirtualResource[] = [
  { kind: SubjectAccessReview, create: reviewOfSpecUser },
  { kind: LocalSubjectAccessReview, create: reviewOfSpecUser },
  { kind: SelfSubjectAccessReview, create: (review, core, { user }) => decide(core, review, user) },
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

async function decide(core: Core, review: any, user: User): Promise<void> {
  const { attributes, parseErrors } = attributesIn(review.spec, user);
  const { verdict, reason, error } = await core.authorizer.authorize(attributes);
  const evaluationError = [parseErrors, error].filter((text) => text).join(', ');
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

interface ReviewedAttributes {
  readonly attributes: Attributes;
  /** Which selectors could not be parsed; they are left out, so that more is asked for than was meant. */
  readonly parseErrors: string | undefined;
}

function attributesIn({ resourceAttributes: asked, nonResourceAttributes: path }: any, user: User): ReviewedAttributes {
  if (path) return { attributes: { user, verb: path.verb ?? '', path: path.path ?? '' }, parseErrors: undefined };
  const { verb = '', group = '', version = '', resource = '', subresource = '', namespace = '', name = '' } = asked;
  const fields = requirementsOf(asked.fieldSelector, fieldRequirements);
  const labels = requirementsOf(asked.labelSelector, labelRequirements);
  const parseErrors = [fields.parseErrors, labels.parseErrors].filter((text) => text).join(', ');
  return {
    attributes: {
      ...{ user, verb, group, version, resource, subresource, namespace, name },
      fieldSelector: fields.found,
      labelSelector: labels.found,
    },
    parseErrors,
  };
}

type Parse = (text: string) => readonly SelectorRequirement[];
type Requirements = { readonly found: readonly SelectorRequirement[] | undefined; readonly parseErrors?: string };

function requirementsOf(selector: any, parse: Parse): Requirements {
  if (!selector?.rawSelector) return { found: selector?.requirements };
  try {
    return { found: parse(selector.rawSelector) };
  } catch (error) {
    if (error instanceof SelectorError) return { found: undefined, parseErrors: error.message };
    throw error;
  }
}
