/** Where the HTTP front end asks: one gate for every request, objects and other paths alike. */
import type { User } from '../api.ts';
import type { Attributes, Authorizer, Decision } from './authorizer.ts';
import { refusal } from './forbidden.ts';
import { Impersonation } from './impersonation/impersonation.ts';
import type { Wanted } from './impersonation/wanted.ts';

export class Gate {
  readonly #authorizer: Authorizer;

  readonly impersonation: Impersonation;

  constructor(authorizer: Authorizer) {
    this.#authorizer = authorizer;
    this.impersonation = new Impersonation(authorizer);
  }

  /** Whom a request is made as that asks to act as somebody else. Rejects with a Forbidden. */
  actingAs(wanted: Wanted, asked: Attributes): Promise<User> {
    return this.impersonation.userFor(wanted, asked);
  }

  /** Undefined when it is allowed at once. Throws, or rejects with, a Forbidden. `noting` hears what was decided. */
  pass(attributes: Attributes, noting?: Noting): Promise<void> | undefined {
    const decision = this.#authorizer.authorize(attributes);
    if (decision instanceof Promise) return decision.then((later) => check(later, attributes, noting));
    check(decision, attributes, noting);
    return undefined;
  }
}

interface Noting {
  decided(decision: Decision): void;
}

function check(decision: Decision, attributes: Attributes, noting: Noting | undefined): void {
  noting?.decided(decision);
  const { verdict, reason } = decision;
  if (verdict !== 'allow') throw refusal(attributes, reason);
}
