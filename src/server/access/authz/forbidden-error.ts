import { ApiError, forbidden } from '../../../api/errors.ts';
import type { Attributes, Authorizer, Decision } from './authorizer.ts';

export function forbiddenError(attributes: Attributes, reason: string): ApiError {
  const why = `${escapeHtml(cannot(attributes))}${reason ? `: ${reason}` : ''}`;
  if (attributes.path !== undefined) return new ApiError('Forbidden', `forbidden: ${why}`, { details: {} });
  const { group, resource: plural, name } = attributes;
  return forbidden({ group, plural }, name, why);
}

function cannot(attributes: Attributes): string {
  const { user, verb, path } = attributes;
  const who = `User ${JSON.stringify(user.name)} cannot ${verb}`;
  if (path !== undefined) return `${who} path ${JSON.stringify(path)}`;
  const { group, resource, subresource, namespace } = attributes;
  const what = subresource ? `${resource}/${subresource}` : resource;
  const where = namespace ? `in the namespace ${JSON.stringify(namespace)}` : 'at the cluster scope';
  return `${who} resource ${JSON.stringify(what)} in API group ${JSON.stringify(group)} ${where}`;
}

/** Escapes text from a request's path, so that a browser does not interpret it as HTML. */
function escapeHtml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

/** Receives every decision, positive or negative. */
interface DecisionRecorder {
  decided(decision: Decision): void;
}

/** Throws, or rejects with, a Forbidden unless the request is allowed. Returns undefined when that is known at once. */
export function requireAccess(
  authorizer: Authorizer,
  attributes: Attributes,
  recorder?: DecisionRecorder,
): Promise<void> | undefined {
  const decision = authorizer.authorize(attributes);
  if (decision instanceof Promise) return decision.then((later) => check(later, attributes, recorder));
  check(decision, attributes, recorder);
  return undefined;
}

function check(decision: Decision, attributes: Attributes, recorder: DecisionRecorder | undefined): void {
  recorder?.decided(decision);
  const { verdict, reason } = decision;
  if (verdict !== 'allow') throw forbiddenError(attributes, reason);
}
