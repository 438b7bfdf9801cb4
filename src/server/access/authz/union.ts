import type { User } from '../../../api/user.ts';
import { ALLOW, type Attributes, type Authorizer, type Decision, NO_OPINION, type Rules } from './authorizer.ts';

const MASTERS = 'system:masters';

/** Reports membership in `system:masters`, who may do everything, so that administrators cannot lock themselves out. */
export function isMaster({ groups }: User): boolean {
  return groups.includes(MASTERS);
}

/** Combines authorizers: the first with an opinion decides. Members of `system:masters` are always allowed. */
export class Union implements Authorizer {
  constructor(private readonly authorizers: readonly Authorizer[]) {}

  authorize(attributes: Attributes): Decision | Promise<Decision> {
    if (isMaster(attributes.user)) return ALLOW;
    return this.#ask(attributes, 0, NO_OPINION);
  }

  /** Asks the authorizers from an index on. `before` combines the reasons of those without an opinion so far. */
  #ask(attributes: Attributes, from: number, before: Decision): Decision | Promise<Decision> {
    let undecided = before;
    for (let at = from; at < this.authorizers.length; at++) {
      const found = this.authorizers[at]!.authorize(attributes);
      if (found instanceof Promise) {
        const soFar = undecided;
        return found.then((decision) =>
          decision.verdict === 'noOpinion' ? this.#ask(attributes, at + 1, combined(soFar, decision)) : decision,
        );
      }
      if (found.verdict !== 'noOpinion') return found;
      undecided = combined(undecided, found);
    }
    return undecided;
  }

  rulesFor(user: User, namespace: string): Rules {
    const all = this.authorizers.map((authorizer) => authorizer.rulesFor(user, namespace));
    const errors = all.flatMap(({ error }) => error ?? []);
    return {
      resourceRules: all.flatMap(({ resourceRules }) => resourceRules),
      nonResourceRules: all.flatMap(({ nonResourceRules }) => nonResourceRules),
      incomplete: all.some(({ incomplete }) => incomplete),
      error: errors.join(', ') || undefined,
    };
  }
}

/** Combines the reasons and errors of two undecided answers. Allocates nothing in the usual case of none. */
function combined(a: Decision, b: Decision): Decision {
  if (!b.reason && !b.error) return a;
  if (!a.reason && !a.error) return b;
  const error = [a.error, b.error].filter((text) => text).join(', ');
  return {
    verdict: 'noOpinion',
    reason: [a.reason, b.reason].filter((text) => text).join('\n'),
    error: error || undefined,
  };
}
