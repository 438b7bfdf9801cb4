/** The variables `authorizer` and `authorizer.requestResource`, which query the authorizer of the server. */

import type { User } from '../../../../api/user.ts';
import { TurnSpent } from '../../../../base/event-loop/replay.ts';
import { type AuthorizationUser, type Authorize, AuthorizerValue } from '../../../../cel-kubernetes/authorizer.ts';
import { SelectorError } from '../../../../schema/selector/selector.ts';
import { fieldRequirements, labelRequirements } from '../../../access/authz/attributes.ts';
import type { Attributes, Authorizer, Decision, SelectorRequirement } from '../../../access/authz/authorizer.ts';
import type { AdmissionRequest } from '../../../objects/admission/request.ts';

export interface AuthorizerVariables {
  readonly authorizer: AuthorizerValue;
  readonly requestResource: ReturnType<AuthorizerValue['check']>;
}

/** Creates the variables. Each check is performed only once per request. */
export function authorizerOf(authorizer: Authorizer, request: AdmissionRequest): AuthorizerVariables {
  const known = new Map<string, Decision>();
  const authorize: Authorize = (question, user) => {
    const key = JSON.stringify([question, user?.name]);
    let decision = known.get(key);
    if (!decision) {
      const asked = authorizer.authorize(attributesOf(question, userOf(request, user)));
      if (asked instanceof Promise) throw new TurnSpent(asked.then((decided) => known.set(key, decided)));
      decision = asked;
      known.set(key, decision);
    }
    const { verdict, reason, error } = decision;
    return { allowed: verdict === 'allow', reason, error };
  };
  const value = new AuthorizerValue(authorize);
  return { authorizer: value, requestResource: value.check(resourceOf(request)) };
}

const userOf = ({ user }: AdmissionRequest, other: AuthorizationUser | undefined): User =>
  other ? { name: other.name, groups: [...(other.groups ?? [])] } : user;

function resourceOf({ resource, subresource, namespace, name }: AdmissionRequest) {
  return {
    group: resource.version.group,
    resource: resource.kind.plural,
    subresource: subresource || undefined,
    namespace: namespace || undefined,
    name: name || undefined,
  };
}

function attributesOf(question: Parameters<Authorize>[0], user: User): Attributes {
  const { verb } = question;
  if ('path' in question) return { user, verb, path: question.path };
  const { group, resource, subresource = '', namespace = '', name = '', fieldSelector, labelSelector } = question;
  return {
    user,
    verb,
    group,
    version: '*',
    resource,
    subresource,
    namespace,
    name,
    fieldSelector: requirementsOf(fieldSelector, fieldRequirements),
    labelSelector: requirementsOf(labelSelector, labelRequirements),
  };
}

/** Parses a selector. One that cannot be parsed selects everything, which needs more permissions. */
function requirementsOf(
  text: string | undefined,
  parse: (text: string) => readonly SelectorRequirement[],
): readonly SelectorRequirement[] | undefined {
  try {
    return text === undefined ? undefined : parse(text);
  } catch (error) {
    if (error instanceof SelectorError) return undefined;
    throw error;
  }
}
