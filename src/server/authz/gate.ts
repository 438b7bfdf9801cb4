/** Where the HTTP front end asks: one gate for every request, objects and other paths alike. */
import type { IncomingHttpHeaders } from 'node:http';
import type { User } from '../api.ts';
import type { Attributes, Authorizer, Decision } from './authorizer.ts';
import { refusal } from './forbidden.ts';
import { impersonated, wantedUser } from './impersonation.ts';

export class Gate {
  readonly #authorizer: Authorizer;

  constructor(authorizer: Authorizer) {
    this.#authorizer = authorizer;
  }

  /** Who the request is made as: whoever sent it, or whom he may act as. */
  actingAs(user: User, headers: IncomingHttpHeaders): User | Promise<User> {
    const wanted = wantedUser(headers);
    return wanted ? impersonated(this.#authorizer, user, wanted) : user;
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
