/**
 * Which bindings speak of whom: every ClusterRoleBinding and RoleBinding by the users and groups it names. Follows the
 * cache, change by change, so that a binding counts as soon as it can be read.
 */

import { ClusterRoleBinding } from '../../../kinds/groups/rbac/cluster-role-binding.ts';
import { RoleBinding } from '../../../kinds/groups/rbac/role-binding.ts';
import type { RoleRef } from '../../../kinds/groups/rbac/role-ref.ts';
import type { Subject } from '../../../kinds/groups/rbac/subject.ts';
import type { KubeObject } from '../../../kinds/kind.ts';
import type { User } from '../../api.ts';
import type { Cache } from '../../cache/cache.ts';
import type { ChangeRecord } from '../../cache/change-record.ts';
import type { Entry } from '../../cache/entry.ts';

/** A binding, as far as it matters to one of its subjects. */
export interface Grant {
  readonly binding: string;
  /** Empty for a ClusterRoleBinding. */
  readonly namespace: string;
  readonly roleRef: RoleRef;
  readonly subject: Subject;
}

/** Everything that names one user or one group. */
interface Place {
  readonly among: Map<string, Map<string, Grant>>;
  readonly name: string;
}

type Binding = KubeObject & { readonly roleRef: RoleRef; readonly subjects?: readonly Subject[] };

const KINDS = [ClusterRoleBinding, RoleBinding] as const;

export class Bindings {
  readonly #cache: Cache;
  /** By the user's name, then by the binding's key; the same for groups. */
  readonly #users = new Map<string, Map<string, Grant>>();
  readonly #groups = new Map<string, Map<string, Grant>>();
  /** Whom each binding names, so that it can be taken out again. */
  readonly #named = new Map<string, readonly Place[]>();
  #isFilled = false;

  constructor(cache: Cache) {
    this.#cache = cache;
  }

  /** Those that name the user or one of its groups; each binding once. */
  of({ name, groups }: User): readonly Grant[] {
    if (!this.#isFilled) this.#fill();
    const found = new Map<string, Grant>();
    const take = (grants: Map<string, Grant> | undefined) => {
      for (const [key, grant] of grants ?? []) if (!found.has(key)) found.set(key, grant);
    };
    take(this.#users.get(name));
    for (const group of groups) take(this.#groups.get(group));
    // In the order in which bindings are listed, those of the whole cluster first.
    return [...found].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, grant]) => grant);
  }

  /** A change of one binding, in the order of the cache. */
  changed(record: ChangeRecord, kind: (typeof KINDS)[number]): void {
    // What nobody has asked for yet is read when somebody does.
    if (!this.#isFilled) return;
    this.#remove(record.at.key);
    if (record.entry) this.#add(record.entry, kind);
  }

  #fill(): void {
    this.#isFilled = true;
    for (const kind of KINDS) for (const entry of this.#cache.table(kind).entries('')) this.#add(entry, kind);
  }

  #add(entry: Entry, kind: (typeof KINDS)[number]): void {
    // What cannot be read grants nothing.
    if (entry.failure(kind)) return;
    const { roleRef, subjects = [], metadata } = entry.hub(kind) as Binding;
    const { name = '', namespace = '' } = metadata;
    const { key } = entry.at;
    const places: Place[] = [];
    for (const subject of subjects) {
      const place = this.#placeOf(subject, namespace);
      if (!place) continue;
      const grants = place.among.get(place.name) ?? new Map<string, Grant>();
      if (grants.has(key)) continue;
      place.among.set(place.name, grants.set(key, { binding: name, namespace, roleRef, subject }));
      places.push(place);
    }
    if (places.length > 0) this.#named.set(key, places);
  }

  #remove(key: string): void {
    for (const { among, name } of this.#named.get(key) ?? []) {
      const grants = among.get(name);
      grants?.delete(key);
      if (grants?.size === 0) among.delete(name);
    }
    this.#named.delete(key);
  }

  /** A service account is the user that its tokens name. */
  #placeOf(subject: Subject, namespace: string): Place | undefined {
    switch (subject.kind) {
      case 'User':
        return { among: this.#users, name: subject.name };
      case 'Group':
        return { among: this.#groups, name: subject.name };
      case 'ServiceAccount': {
        const home = subject.namespace || namespace;
        return home ? { among: this.#users, name: `system:serviceaccount:${home}:${subject.name}` } : undefined;
      }
      default:
        return undefined;
    }
  }
}
