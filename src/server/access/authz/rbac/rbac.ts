/** Role-based access control: permissions from roles and bindings in the store. */

import { notFound } from '../../../../api/errors.ts';
import type { User } from '../../../../api/user.ts';
import { ByteBudget } from '../../../../base/bytes/byte-budget.ts';
import { textBytes } from '../../../../base/collections/bounded-map.ts';
import { ClusterRole } from '../../../../kinds/groups/access/rbac/cluster-role.ts';
import { ClusterRoleBinding } from '../../../../kinds/groups/access/rbac/cluster-role-binding.ts';
import type { PolicyRule } from '../../../../kinds/groups/access/rbac/policy-rule.ts';
import { Role } from '../../../../kinds/groups/access/rbac/role.ts';
import { RoleBinding } from '../../../../kinds/groups/access/rbac/role-binding.ts';
import type { RoleRef } from '../../../../kinds/groups/access/rbac/role-ref.ts';
import type { Kind, KubeObject } from '../../../../kinds/kind.ts';
import type { Cache } from '../../../objects/cache/cache.ts';
import type { Attributes, Authorizer, Decision, Rules } from '../authorizer.ts';
import { Bindings } from './bindings.ts';
import { joinErrors, type RulesOf, UserPermissions } from './user-permissions.ts';

/**
 * Limit for the cached permissions and decisions of all users. Clients control their number and the length of their
 * names: with reviews, everyone can ask about any path or resource, and with impersonation, for any number of users.
 */
const MAX_CACHED_BYTES = 16 * 1024 * 1024;
/** Estimates for the memory of a user's permissions, and of a binding that applies to the user. */
const USER_BYTES = 1_000;
const GRANT_BYTES = 250;

export class Rbac implements Authorizer {
  readonly #bindings: Bindings;
  /** Permissions by user object, which is the same for most requests of a user, and otherwise by name and groups. */
  #byUser = new WeakMap<User, UserPermissions>();
  readonly #byIdentity = new Map<string, UserPermissions>();
  readonly #budget = new ByteBudget({ maxBytes: MAX_CACHED_BYTES, onFull: () => this.#invalidate() });

  constructor(private readonly cache: Cache) {
    this.#bindings = new Bindings(cache);
    for (const kind of [ClusterRoleBinding, RoleBinding]) {
      cache.table(kind).listeners.add((record) => {
        this.#bindings.changed(record, kind);
        this.#invalidate();
      });
    }
    for (const kind of [ClusterRole, Role]) cache.table(kind).listeners.add(() => this.#invalidate());
  }

  authorize(attributes: Attributes): Decision {
    return this.#permissionsOf(attributes.user).decide(attributes);
  }

  rulesFor(user: User, namespace: string): Rules {
    const { rules, errors } = this.policyFor(user, namespace);
    return {
      resourceRules: rules.flatMap(({ verbs, apiGroups = [], resources, resourceNames }) =>
        resources?.length ? [{ verbs, apiGroups, resources, resourceNames }] : [],
      ),
      nonResourceRules: rules.flatMap(({ verbs, nonResourceURLs }) =>
        nonResourceURLs?.length ? [{ verbs, nonResourceURLs }] : [],
      ),
      incomplete: false,
      error: errors.length > 0 ? joinErrors(errors) : undefined,
    };
  }

  /** Returns all rules that apply to the user in the namespace, and the errors that occurred while collecting them. */
  policyFor(user: User, namespace: string): { rules: readonly PolicyRule[]; errors: readonly string[] } {
    return this.#permissionsOf(user).rulesIn(namespace);
  }

  /** Returns the rules of the role that a binding in the namespace refers to. Throws a NotFound. */
  rulesOfRole({ kind, name }: RoleRef, namespace: string): readonly PolicyRule[] {
    const role = kind === 'Role' ? this.#find(Role, namespace, name) : this.#find(ClusterRole, '', name);
    return role.rules ?? [];
  }

  #find<T extends KubeObject>(kind: Kind<T>, namespace: string, name: string): T {
    const entry = this.cache.table(kind).get(namespace, name);
    if (!entry) throw notFound({ group: kind.group, plural: kind.singular }, name);
    return entry.hub(kind) as T;
  }

  #permissionsOf(user: User): UserPermissions {
    return this.#byUser.get(user) ?? this.#compile(user);
  }

  #compile(user: User): UserPermissions {
    const identity = JSON.stringify([user.name, ...user.groups]);
    let permissions = this.#byIdentity.get(identity);
    if (!permissions) {
      const grants = this.#bindings.of(user);
      const rulesOf: RulesOf = ({ roleRef, namespace }) => this.#rulesOrError(roleRef, namespace);
      permissions = new UserPermissions(grants, rulesOf, this.#budget);
      const bytes = USER_BYTES + textBytes(identity) + grants.length * GRANT_BYTES;
      if (this.#budget.admit(bytes)) this.#byIdentity.set(identity, permissions);
    }
    this.#byUser.set(user, permissions);
    return permissions;
  }

  #rulesOrError(roleRef: RoleRef, namespace: string): readonly PolicyRule[] | string {
    try {
      return this.rulesOfRole(roleRef, namespace);
    } catch (error) {
      return (error as Error).message;
    }
  }

  #invalidate(): void {
    this.#byUser = new WeakMap();
    this.#byIdentity.clear();
    this.#budget.reset();
  }
}
