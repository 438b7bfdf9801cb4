import type { Attributes, Authorizer, Decision } from './authorizer.ts';
import { forbiddenError } from './forbidden-error.ts';

/** Is told what was decided, whatever that is. */
interface DecisionRecorder {
  decided(decision: Decision): void;
}

/** Throws, or rejects with, a Forbidden unless the request is allowed. Undefined when that is known at once. */
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
