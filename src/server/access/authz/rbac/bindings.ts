/**
 * An index of ClusterRoleBindings and RoleBindings by their users and groups. It follows the cache change by change, so
 * a binding takes effect as soon as it can be read.
 */

import type { User } from '../../../../api/user.ts';
import { ClusterRoleBinding } from '../../../../kinds/groups/access/rbac/cluster-role-binding.ts';
import { RoleBinding } from '../../../../kinds/groups/access/rbac/role-binding.ts';
import type { RoleRef } from '../../../../kinds/groups/access/rbac/role-ref.ts';
import type { Subject } from '../../../../kinds/groups/access/rbac/subject.ts';
import type { KubeObject } from '../../../../kinds/kind.ts';
import type { Cache } from '../../../objects/cache/cache.ts';
import type { Entry } from '../../../objects/cache/entry/entry.ts';
import type { ChangeRecord } from '../../../objects/cache/history/change-record.ts';

export interface Grant {
  readonly binding: string;
  /** The namespace; empty for a ClusterRoleBinding. */
  readonly namespace: string;
  readonly roleRef: RoleRef;
  readonly subject: Subject;
}

/** A position in the index: the grants of a user or group. */
interface IndexPosition {
  readonly index: Map<string, Map<string, Grant>>;
  readonly name: string;
}

type Binding = KubeObject & { readonly roleRef: RoleRef; readonly subjects?: readonly Subject[] };

const KINDS = [ClusterRoleBinding, RoleBinding] as const;

export class Bindings {
  /** Grants by user name, then by the binding's key; the same for groups. */
  readonly #users = new Map<string, Map<string, Grant>>();
  readonly #groups = new Map<string, Map<string, Grant>>();
  /** Positions of a binding's grants by the binding's key, to remove them. */
  readonly #positions = new Map<string, readonly IndexPosition[]>();
  #isFilled = false;

  constructor(private readonly cache: Cache) {}

  /** Returns the grants for a user and its groups, each binding once. */
  of({ name, groups }: User): readonly Grant[] {
    if (!this.#isFilled) this.#fill();
    const found = new Map<string, Grant>();
    const addAll = (grants: Map<string, Grant> | undefined) => {
      for (const [key, grant] of grants ?? []) if (!found.has(key)) found.set(key, grant);
    };
    addAll(this.#users.get(name));
    for (const group of groups) addAll(this.#groups.get(group));
    // Sorts the bindings in list order, ClusterRoleBindings first.
    return [...found].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, grant]) => grant);
  }

  /** Must be called for every change of a binding, in order. */
  changed(record: ChangeRecord, kind: (typeof KINDS)[number]): void {
    // The index is built on first use.
    if (!this.#isFilled) return;
    this.#remove(record.at.key);
    if (record.entry) this.#add(record.entry, kind);
  }

  #fill(): void {
    this.#isFilled = true;
    for (const kind of KINDS) for (const entry of this.cache.table(kind).entries('')) this.#add(entry, kind);
  }

  #add(entry: Entry, kind: (typeof KINDS)[number]): void {
    // A binding that cannot be decoded grants nothing.
    if (entry.failure(kind)) return;
    const { roleRef, subjects = [], metadata } = entry.hub(kind) as Binding;
    const { name = '', namespace = '' } = metadata;
    const { key } = entry.at;
    const positions: IndexPosition[] = [];
    for (const subject of subjects) {
      const position = this.#positionOf(subject, namespace);
      if (!position) continue;
      const grants = position.index.get(position.name) ?? new Map<string, Grant>();
      if (grants.has(key)) continue;
      position.index.set(position.name, grants.set(key, { binding: name, namespace, roleRef, subject }));
      positions.push(position);
    }
    if (positions.length > 0) this.#positions.set(key, positions);
  }

  #remove(key: string): void {
    for (const { index, name } of this.#positions.get(key) ?? []) {
      const grants = index.get(name);
      grants?.delete(key);
      if (grants?.size === 0) index.delete(name);
    }
    this.#positions.delete(key);
  }

  /** Returns the position of a subject. A service account is indexed as the user that its tokens authenticate. */
  #positionOf(subject: Subject, namespace: string): IndexPosition | undefined {
    switch (subject.kind) {
      case 'User':
        return { index: this.#users, name: subject.name };
      case 'Group':
        return { index: this.#groups, name: subject.name };
      case 'ServiceAccount': {
        const home = subject.namespace || namespace;
        return home ? { index: this.#users, name: `system:serviceaccount:${home}:${subject.name}` } : undefined;
      }
      default:
        return undefined;
    }
  }
}
