/** Acting as somebody else, for those who may: whom a request is made as, and by which right. */
import { ApiError } from '../../../base/errors.ts';
import type { User } from '../../api.ts';
import { head, labelsOf } from '../../metrics/text.ts';
import type { Attributes, Authorizer, ResourceAttributes } from '../authorizer.ts';
import { refusal } from '../forbidden.ts';
import { type Mode, modes, onAnyNode } from './modes.ts';
import { type Part, partsOf } from './parts.ts';
import { accountOf, nodeOf, type Wanted } from './wanted.ts';

const ANONYMOUS = 'system:anonymous';
const AUTHENTICATED = 'system:authenticated';
const UNAUTHENTICATED = 'system:unauthenticated';

/** Senders whose way is remembered. */
const REMEMBERED = 10_000;

const constraints = new WeakMap<User, string>();

/** The right by which somebody is acted as, where that is one for a few things only. */
export function constraintOn(user: User): string | undefined {
  return constraints.get(user);
}

export class Impersonation {
  readonly #authorizer: Authorizer;
  /** The way that a sender went last: it is tried first, since he mostly goes the same. */
  readonly #last = new Map<string, Mode>();
  readonly #attempts = new Counts();
  readonly #questions = new Counts();

  constructor(authorizer: Authorizer) {
    this.#authorizer = authorizer;
  }

  /**
   * The user to act as, when the sender of `asked` may. Rejects with the Forbidden of the first way that was tried.
   * @param asked what the request wants, as its sender's
   */
  async userFor(wanted: Wanted, asked: Attributes): Promise<User> {
    const { user: sender } = asked;
    const last = this.#last.get(sender.name);
    let first: ApiError | undefined;
    for (const mode of last ? [last, ...modes.filter((other) => other !== last)] : modes) {
      if (!mode.applies(sender, wanted)) continue;
      const refused = await this.#refusal(mode, wanted, asked);
      if (!refused) {
        this.#remember(sender, mode);
        this.#attempts.count(mode.name, true);
        return userOf(wanted, mode);
      }
      first ??= refused;
    }
    this.#attempts.count('', false);
    throw first ?? new ApiError('InternalError', 'all impersonation modes failed');
  }

  *lines(): Generator<string> {
    yield* this.#attempts.lines(
      'apiserver_impersonation_attempts_total',
      'Requests that were to be made as somebody else.',
    );
    yield* this.#questions.lines(
      'apiserver_impersonation_authorization_attempts_total',
      'Questions about rights for them.',
    );
  }

  /** Undefined when the sender may. */
  async #refusal(mode: Mode, wanted: Wanted, asked: Attributes): Promise<ApiError | undefined> {
    if (mode.isConstrained) {
      const refused = await this.#ask(doing(asked, mode), mode);
      if (refused) return refused;
    }
    for (const part of partsOf(asked.user, wanted, mode)) {
      const refused = await this.#refusalOf(part, mode);
      if (refused) return refused;
    }
    return undefined;
  }

  async #refusalOf({ any, all, refused }: Part, mode: Mode): Promise<ApiError | undefined> {
    if (refused) return refused;
    if (any && !(await this.#ask(any, mode))) return undefined;
    for (const each of all) {
      const found = await this.#ask(each, mode);
      if (found) return found;
    }
    return undefined;
  }

  async #ask(asked: Attributes, { name }: Mode): Promise<ApiError | undefined> {
    const { verdict, reason, error } = await this.#authorizer.authorize(asked);
    this.#questions.count(name, verdict === 'allow');
    return verdict === 'allow' ? undefined : refusal(asked, [error, reason].filter(Boolean).join(': '));
  }

  #remember({ name }: User, mode: Mode): void {
    if (this.#last.get(name) === mode) return;
    if (this.#last.size >= REMEMBERED) this.#last.delete(this.#last.keys().next().value!);
    this.#last.set(name, mode);
  }
}

/** What the request wants, as the right to do it while acting as somebody. */
function doing(asked: Attributes, { name }: Mode): Attributes {
  const user = name === 'associated-node' ? onAnyNode(asked.user) : asked.user;
  const verb = `impersonate-on:${name}:${asked.verb}`;
  if (asked.path !== undefined) return { path: asked.path, user, verb };
  const { group, version, resource, subresource, namespace, fieldSelector, labelSelector } = asked;
  const rest: ResourceAttributes = { user, verb, group, version, resource, subresource, namespace, name: asked.name };
  return { ...rest, fieldSelector, labelSelector };
}

function userOf(wanted: Wanted, mode: Mode): User {
  const { name, uid, extra } = wanted;
  const user: User = Object.freeze({
    name,
    ...(uid ? { uid } : {}),
    groups: Object.freeze(withEverybody(name, groupsOf(wanted, mode))),
    ...(Object.keys(extra).length > 0 ? { extra } : {}),
  });
  if (mode.isConstrained) constraints.set(user, mode.verb);
  return user;
}

/** Those of accounts are known, and, where a way is constrained, those of nodes; named groups are all there are. */
function groupsOf({ name, groups }: Wanted, { isConstrained }: Mode): readonly string[] {
  if (groups.length > 0) return groups;
  const account = accountOf(name);
  if (account) return ['system:serviceaccounts', `system:serviceaccounts:${account.namespace}`];
  return isConstrained && nodeOf(name) !== undefined ? ['system:nodes'] : [];
}

/** Who is somebody is authenticated, unless the groups say otherwise. */
function withEverybody(name: string, groups: readonly string[]): string[] {
  const everybody = name === ANONYMOUS ? UNAUTHENTICATED : AUTHENTICATED;
  return groups.includes(everybody) || groups.includes(UNAUTHENTICATED) ? [...groups] : [...groups, everybody];
}

/** By the way that was tried, and how it ended. */
class Counts {
  readonly #counts = new Map<string, number>();

  count(mode: string, isAllowed: boolean): void {
    const labels = labelsOf({ decision: isAllowed ? 'allowed' : 'denied', mode });
    this.#counts.set(labels, (this.#counts.get(labels) ?? 0) + 1);
  }

  *lines(name: string, help: string): Generator<string> {
    yield head(name, 'counter', help);
    for (const [labels, count] of this.#counts) yield `${name}{${labels}} ${count}`;
  }
}
