import type { User } from '../api.ts';
import { ALLOW, type Attributes, type Authorizer, type Decision, NO_OPINION, type Rules } from './authorizer.ts';

const MASTERS = 'system:masters';

/** Members may do everything, whatever roles say: who locked himself out still has a way in. */
export function isMaster({ groups }: User): boolean {
  return groups.includes(MASTERS);
}

/** The first who has an opinion decides. Members of `system:masters` are not asked about. */
export class Union implements Authorizer {
  readonly #members: readonly Authorizer[];

  constructor(members: readonly Authorizer[]) {
    this.#members = members;
  }

  authorize(attributes: Attributes): Decision | Promise<Decision> {
    if (isMaster(attributes.user)) return ALLOW;
    return this.#ask(attributes, 0, NO_OPINION);
  }

  /** `said`: what those in front have said, none of whom decided. */
  #ask(attributes: Attributes, from: number, said: Decision): Decision | Promise<Decision> {
    let undecided = said;
    for (let at = from; at < this.#members.length; at++) {
      const found = this.#members[at]!.authorize(attributes);
      if (found instanceof Promise) {
        const before = undecided;
        return found.then((decision) =>
          decision.verdict === 'noOpinion' ? this.#ask(attributes, at + 1, together(before, decision)) : decision,
        );
      }
      if (found.verdict !== 'noOpinion') return found;
      undecided = together(undecided, found);
    }
    return undecided;
  }

  rulesFor(user: User, namespace: string): Rules {
    const all = this.#members.map((member) => member.rulesFor(user, namespace));
    const errors = all.flatMap(({ error }) => error ?? []);
    return {
      resourceRules: all.flatMap(({ resourceRules }) => resourceRules),
      nonResourceRules: all.flatMap(({ nonResourceRules }) => nonResourceRules),
      incomplete: all.some(({ incomplete }) => incomplete),
      ...(errors.length > 0 ? { error: errors.join(', ') } : {}),
    };
  }
}

/** Reasons and errors of all who did not decide, a line each. Mostly nobody says anything: then nothing is made. */
function together(a: Decision, b: Decision): Decision {
  if (!b.reason && !b.error) return a;
  if (!a.reason && !a.error) return b;
  const error = [a.error, b.error].filter((text) => text).join(', ');
  return {
    verdict: 'noOpinion',
    reason: [a.reason, b.reason].filter((text) => text).join('\n'),
    ...(error ? { error } : {}),
  };
}
