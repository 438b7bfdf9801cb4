/** Stub until the library is there. */
import type { Value } from '../../../cel/values/value.ts';
import type { Authorizer } from '../../authz/authorizer.ts';
import type { AdmissionRequest } from '../request.ts';

export interface AuthorizerVariables {
  readonly authorizer: Value;
  readonly requestResource: Value;
}

/** A decision that has to be waited for. */
class Undecided {
  readonly decision: Promise<unknown>;

  constructor(decision: Promise<unknown>) {
    this.decision = decision;
  }
}

export function authorizerOf(_authorizer: Authorizer, _request: AdmissionRequest): AuthorizerVariables {
  return { authorizer: null, requestResource: null };
}

/** Evaluates something, and evaluates it again when a decision had to be waited for. */
export function whenDecided<T>(evaluate: () => T): T | Promise<T> {
  try {
    return evaluate();
  } catch (error) {
    if (!(error instanceof Undecided)) throw error;
    return error.decision.then(() => whenDecided(evaluate));
  }
}
