/** Impersonation: decides whether a sender may act as another user, and under which permission. */

import { ApiError } from '../../../../api/errors.ts';
import type { User } from '../../../../api/user.ts';
import { BoundedMap } from '../../../../base/collections/bounded-map.ts';
import { head, labelsOf } from '../../../../base/metrics/text.ts';
import type { Attributes, Authorizer, ResourceAttributes } from '../authorizer.ts';
import { forbiddenError } from '../forbidden-error.ts';
import { type Mode, modes, onAnyNode } from './modes.ts';
import { type PermissionCheck, permissionChecks } from './permission-checks.ts';
import { accountOf, nodeOf, type RequestedUser } from './requested-user.ts';

const ANONYMOUS = 'system:anonymous';
const AUTHENTICATED = 'system:authenticated';
const UNAUTHENTICATED = 'system:unauthenticated';

/** Limit for the cache of each sender's last mode. */
const MAX_CACHED_BYTES = 2 * 1024 * 1024;

const constraints = new WeakMap<User, string>();

/** Returns the constrained permission under which a user is impersonated; undefined for other users. */
export function constraintOn(user: User): string | undefined {
  return constraints.get(user);
}

export class Impersonation {
  /** The mode that last succeeded, by sender: it is tried first. */
  readonly #lastModes = new BoundedMap<Mode>({ maxBytes: MAX_CACHED_BYTES, bytesOf: () => 0 });
  readonly #attempts = new Counts();
  readonly #checks = new Counts();

  constructor(private readonly authorizer: Authorizer) {}

  /**
   * Returns the user to act as, if the sender is allowed to. Rejects with the Forbidden of the first mode that was
   * tried. `attributes` are those of the request with the sender as its user.
   */
  async userFor(requested: RequestedUser, attributes: Attributes): Promise<User> {
    const { user: sender } = attributes;
    const last = this.#lastModes.get(sender.name);
    let first: ApiError | undefined;
    for (const mode of last ? [last, ...modes.filter((other) => other !== last)] : modes) {
      if (!mode.applies(sender, requested)) continue;
      const error = await this.#check(mode, requested, attributes);
      if (!error) {
        this.#remember(sender, mode);
        this.#attempts.count(mode.name, true);
        return userOf(requested, mode);
      }
      first ??= error;
    }
    this.#attempts.count('', false);
    throw first ?? new ApiError('InternalError', 'all impersonation modes failed');
  }

  *lines(): Generator<string> {
    yield* this.#attempts.lines(
      'apiserver_impersonation_attempts_total',
      'Number of requests that ask for impersonation.',
    );
    yield* this.#checks.lines(
      'apiserver_impersonation_authorization_attempts_total',
      'Number of permission checks for impersonation.',
    );
  }

  /** Returns the error if the sender may not impersonate the user in this mode; undefined if it may. */
  async #check(mode: Mode, requested: RequestedUser, attributes: Attributes): Promise<ApiError | undefined> {
    if (mode.isConstrained) {
      const error = await this.#authorize(whileImpersonating(attributes, mode), mode);
      if (error) return error;
    }
    for (const check of permissionChecks(attributes.user, requested, mode)) {
      const error = await this.#perform(check, mode);
      if (error) return error;
    }
    return undefined;
  }

  async #perform({ any, all, error }: PermissionCheck, mode: Mode): Promise<ApiError | undefined> {
    if (error) return error;
    if (any && !(await this.#authorize(any, mode))) return undefined;
    for (const each of all) {
      const found = await this.#authorize(each, mode);
      if (found) return found;
    }
    return undefined;
  }

  async #authorize(attributes: Attributes, { name }: Mode): Promise<ApiError | undefined> {
    const { verdict, reason, error } = await this.authorizer.authorize(attributes);
    this.#checks.count(name, verdict === 'allow');
    return verdict === 'allow' ? undefined : forbiddenError(attributes, [error, reason].filter(Boolean).join(': '));
  }

  #remember({ name }: User, mode: Mode): void {
    if (this.#lastModes.get(name) !== mode) this.#lastModes.set(name, mode);
  }
}

/** The attributes of the permission to perform the request while impersonating. */
function whileImpersonating(attributes: Attributes, { name }: Mode): Attributes {
  const user = name === 'associated-node' ? onAnyNode(attributes.user) : attributes.user;
  const verb = `impersonate-on:${name}:${attributes.verb}`;
  if (attributes.path !== undefined) return { path: attributes.path, user, verb };
  const { group, version, resource, subresource, namespace, fieldSelector, labelSelector } = attributes;
  const rest: ResourceAttributes = {
    user,
    verb,
    group,
    version,
    resource,
    subresource,
    namespace,
    name: attributes.name,
  };
  return { ...rest, fieldSelector, labelSelector };
}

function userOf(requested: RequestedUser, mode: Mode): User {
  const { name, uid, extra } = requested;
  const user: User = Object.freeze({
    name,
    uid: uid || undefined,
    groups: Object.freeze(withAuthenticated(name, groupsOf(requested, mode))),
    extra: Object.keys(extra).length > 0 ? extra : undefined,
  });
  if (mode.isConstrained) constraints.set(user, mode.verb);
  return user;
}

/** Returns the requested groups, or those implied by a service account's name or, in a constrained mode, a node's. */
function groupsOf({ name, groups }: RequestedUser, { isConstrained }: Mode): readonly string[] {
  if (groups.length > 0) return groups;
  const account = accountOf(name);
  if (account) return ['system:serviceaccounts', `system:serviceaccounts:${account.namespace}`];
  return isConstrained && nodeOf(name) !== undefined ? ['system:nodes'] : [];
}

/** Adds `system:authenticated`, or `system:unauthenticated` for the anonymous user, unless one of them is present. */
function withAuthenticated(name: string, groups: readonly string[]): string[] {
  const own = name === ANONYMOUS ? UNAUTHENTICATED : AUTHENTICATED;
  return groups.includes(own) || groups.includes(UNAUTHENTICATED) ? [...groups] : [...groups, own];
}

/** Counters by mode and decision. */
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
