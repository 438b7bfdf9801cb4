/** Rights from roles and bindings in the store. */
import { notFound } from '../../../base/errors.ts';
import { ClusterRole } from '../../../kinds/groups/rbac/cluster-role.ts';
import { ClusterRoleBinding } from '../../../kinds/groups/rbac/cluster-role-binding.ts';
import type { PolicyRule } from '../../../kinds/groups/rbac/policy-rule.ts';
import { Role } from '../../../kinds/groups/rbac/role.ts';
import { RoleBinding } from '../../../kinds/groups/rbac/role-binding.ts';
import type { RoleRef } from '../../../kinds/groups/rbac/role-ref.ts';
import type { Kind, KubeObject } from '../../../kinds/kind.ts';
import type { User } from '../../api.ts';
import type { Cache } from '../../cache/cache.ts';
import type { Attributes, Authorizer, Decision, Rules } from '../authorizer.ts';
import { Bindings } from './bindings.ts';
import { oneText, Rights } from './rights.ts';

/** How many users' rights are kept: whoever may impersonate can be anybody. */
const KEPT = 4096;

export class Rbac implements Authorizer {
  readonly #cache: Cache;
  readonly #bindings: Bindings;
  /** By the very user object where it is known, which most requests bring; else by who it is. */
  #byUser = new WeakMap<User, Rights>();
  #byIdentity = new Map<string, Rights>();

  constructor(cache: Cache) {
    this.#cache = cache;
    this.#bindings = new Bindings(cache);
    for (const kind of [ClusterRoleBinding, RoleBinding]) {
      cache.table(kind).listeners.add((record) => {
        this.#bindings.changed(record, kind);
        this.#forget();
      });
    }
    for (const kind of [ClusterRole, Role]) cache.table(kind).listeners.add(() => this.#forget());
  }

  authorize(attributes: Attributes): Decision {
    return this.#rightsOf(attributes.user).decide(attributes);
  }

  rulesFor(user: User, namespace: string): Rules {
    const { rules, errors } = this.policyFor(user, namespace);
    return {
      resourceRules: rules.flatMap(({ verbs, apiGroups = [], resources, resourceNames }) =>
        resources?.length ? [{ verbs, apiGroups, resources, ...(resourceNames ? { resourceNames } : {}) }] : [],
      ),
      nonResourceRules: rules.flatMap(({ verbs, nonResourceURLs }) =>
        nonResourceURLs?.length ? [{ verbs, nonResourceURLs }] : [],
      ),
      incomplete: false,
      ...(errors.length > 0 ? { error: oneText(errors) } : {}),
    };
  }

  /** Every rule that counts for the user in the namespace, and what went wrong when they were gathered. */
  policyFor(user: User, namespace: string): { rules: readonly PolicyRule[]; errors: readonly string[] } {
    return this.#rightsOf(user).rulesIn(namespace);
  }

  /** The rules of the role that a binding in the namespace names. Throws a NotFound. */
  rulesOfRole({ kind, name }: RoleRef, namespace: string): readonly PolicyRule[] {
    const role = kind === 'Role' ? this.#find(Role, namespace, name) : this.#find(ClusterRole, '', name);
    return role.rules ?? [];
  }

  #find<T extends KubeObject>(kind: Kind<T>, namespace: string, name: string): T {
    const entry = this.#cache.table(kind).get(namespace, name);
    if (!entry) throw notFound({ group: kind.group, plural: kind.singular }, name);
    return entry.hub(kind) as T;
  }

  #rightsOf(user: User): Rights {
    return this.#byUser.get(user) ?? this.#compile(user);
  }

  #compile(user: User): Rights {
    const identity = JSON.stringify([user.name, ...user.groups]);
    let rights = this.#byIdentity.get(identity);
    if (!rights) {
      rights = new Rights(this.#bindings.of(user), ({ roleRef, namespace }) => this.#rulesOrReason(roleRef, namespace));
      if (this.#byIdentity.size >= KEPT) this.#byIdentity.clear();
      this.#byIdentity.set(identity, rights);
    }
    this.#byUser.set(user, rights);
    return rights;
  }

  #rulesOrReason(roleRef: RoleRef, namespace: string): readonly PolicyRule[] | string {
    try {
      return this.rulesOfRole(roleRef, namespace);
    } catch (error) {
      return (error as Error).message;
    }
  }

  #forget(): void {
    this.#byUser = new WeakMap();
    this.#byIdentity.clear();
  }
}
