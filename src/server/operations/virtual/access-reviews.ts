import { badRequest } from '../../../api/errors.ts';
import type { User } from '../../../api/user.ts';
import { LocalSubjectAccessReview } from '../../../kinds/groups/access/authorization/local-subject-access-review.ts';
import { SelfSubjectAccessReview } from '../../../kinds/groups/access/authorization/self-subject-access-review.ts';
import { SelfSubjectRulesReview } from '../../../kinds/groups/access/authorization/self-subject-rules-review.ts';
import { SubjectAccessReview } from '../../../kinds/groups/access/authorization/subject-access-review.ts';
import { SelectorError } from '../../../schema/selector/selector.ts';
import { fieldRequirements, labelRequirements } from '../../access/authz/attributes.ts';
import type { Attributes, SelectorRequirement } from '../../access/authz/authorizer.ts';
import type { Access } from '../../access/ports.ts';
import { review } from './review.ts';

type Ports = Pick<Access, 'authorizer'>;

export const subjectAccessReview = review(SubjectAccessReview, decideForUserInSpec);
export const localSubjectAccessReview = review(LocalSubjectAccessReview, decideForUserInSpec);
export const selfSubjectAccessReview = review(SelfSubjectAccessReview, (object, core, { user }) =>
  decide(core, object, user),
);

export const selfSubjectRulesReview = review(SelfSubjectRulesReview, (object, core, { user }) => {
  const { namespace } = object.spec;
  if (!namespace) throw badRequest('no namespace on request');
  const { error, ...rules } = core.authorizer.rulesFor(user, namespace);
  object.status = { ...copyOf(rules), ...(error ? { evaluationError: error } : {}) };
});

/** Copies rules, because the objects are handed out and rules are shared. */
function copyOf(rules: object) {
  return structuredClone(rules) as SelfSubjectRulesReview['status'];
}

function decideForUserInSpec(object: SubjectAccessReview | LocalSubjectAccessReview, core: Ports): Promise<void> {
  return decide(core, object, userIn(object.spec));
}

async function decide(core: Ports, object: AccessReview, user: User): Promise<void> {
  const { attributes, parseErrors } = attributesIn(object.spec, user);
  const { verdict, reason, error } = await core.authorizer.authorize(attributes);
  const evaluationError = [parseErrors, error].filter((text) => text).join(', ');
  object.status = {
    allowed: verdict === 'allow',
    denied: verdict === 'deny' ? true : undefined,
    reason: reason || undefined,
    evaluationError: evaluationError || undefined,
  };
}

function userIn({ user = '', groups = [], uid, extra }: SubjectAccessReview['spec']): User {
  return { name: user, groups, uid: uid || undefined, extra };
}

/** The common part of all reviews of an action. */
type AccessReview = Pick<SelfSubjectAccessReview, 'spec' | 'status'>;

const UNNAMED = { verb: '', group: '', version: '', resource: '', subresource: '', namespace: '', name: '' };

interface ReviewedAttributes {
  readonly attributes: Attributes;
  /** Selectors that could not be parsed; they are left out, which requires more permissions than intended. */
  readonly parseErrors: string | undefined;
}

function attributesIn(
  { resourceAttributes = {}, nonResourceAttributes: path }: AccessReview['spec'],
  user: User,
): ReviewedAttributes {
  if (path) return { attributes: { user, verb: path.verb ?? '', path: path.path ?? '' }, parseErrors: undefined };
  const { fieldSelector, labelSelector, ...named } = resourceAttributes;
  const fields = requirementsOf(fieldSelector, fieldRequirements);
  const labels = requirementsOf(labelSelector, labelRequirements);
  const parseErrors = [fields.parseErrors, labels.parseErrors].filter((text) => text).join(', ');
  const selectors = { fieldSelector: fields.found, labelSelector: labels.found };
  return { attributes: { ...UNNAMED, ...named, ...selectors, user }, parseErrors };
}

type SelectorAttributes = NonNullable<NonNullable<AccessReview['spec']['resourceAttributes']>['fieldSelector']>;
type Parse = (text: string) => readonly SelectorRequirement[];
type Requirements = { readonly found: readonly SelectorRequirement[] | undefined; readonly parseErrors?: string };

function requirementsOf(selector: SelectorAttributes | undefined, parse: Parse): Requirements {
  if (!selector?.rawSelector) return { found: selector?.requirements as readonly SelectorRequirement[] | undefined };
  try {
    return { found: parse(selector.rawSelector) };
  } catch (error) {
    if (error instanceof SelectorError) return { found: undefined, parseErrors: error.message };
    throw error;
  }
}
