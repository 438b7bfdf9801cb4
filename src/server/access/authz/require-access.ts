import type { Attributes, Authorizer, Decision } from './authorizer.ts';
import { forbiddenError } from './forbidden-error.ts';

/** Receives every decision, positive or negative. */
interface DecisionRecorder {
  decided(decision: Decision): void;
}

/**
 * Throws, or rejects with, a Forbidden unless the request is allowed. Returns undefined when that is known
 * synchronously.
 */
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
