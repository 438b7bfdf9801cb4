/** Finds the changes that an undo is about: those that a user, or any user, made in a range of time. */

import { clientContent } from '../../../../api/undo/content.ts';
import { deepEqual } from '../../../../base/json/tree.ts';
import { Namespace } from '../../../../kinds/groups/core/namespace.ts';
import { CustomResourceDefinition } from '../../../../kinds/groups/extension/apiextensions/custom-resource-definition.ts';
import type { KubeObject } from '../../../../kinds/kind.ts';
import type { ArchivedChange } from '../../../../store/archive/archive.ts';
import { parseStored } from '../../../objects/cache/entry/stored-object.ts';
import { parseKey, tableName } from '../../../objects/cache/keys.ts';
import { isIn } from '../all-changes.ts';
import { isComponent } from './component.ts';

/** What is to be undone. */
export interface SetRange {
  /** The revision to go back to. */
  readonly since: number;
  /** The last revision of the set. */
  readonly until: number;
  /** Undefined: all namespaces, and objects without one. */
  readonly namespace: string | undefined;
  /** Undefined: everybody but the components of the cluster. */
  readonly user: string | undefined;
}

/** An object that was changed in the set. */
export interface ChangedObject {
  readonly key: string;
  /** The revision before the first change of the set. */
  readonly before: number;
  /** Users who made changes of the set. */
  readonly users: readonly string[];
  /** The first change of the object after that which the set does not explain. */
  readonly conflict: ArchivedChange | undefined;
}

/** A state of an object, decoded on demand: most changes of a cluster are its own, and need no look at the object. */
class State {
  #object: KubeObject | undefined;

  /** `value`: null when the object did not exist. */
  constructor(readonly value: Buffer | null) {}

  get object(): KubeObject | undefined {
    if (this.value) this.#object ??= parseStored(this.value) as KubeObject;
    return this.#object;
  }

  /** True when the object was being deleted. */
  get isTerminating(): boolean {
    if (!this.value?.includes('"deletionTimestamp"')) return false;
    return this.object?.metadata.deletionTimestamp !== undefined;
  }
}

/** Collects the changes of an object while the archive is read, oldest first. */
class Tracked {
  readonly users = new Set<string>();
  conflict: ArchivedChange | undefined;
  /** True when the set began the deletion of the object. */
  isDeletionOfSet = false;

  constructor(
    readonly key: string,
    readonly before: number,
  ) {}
}

interface ReadChanges {
  changes(range: { readonly prefix: string; readonly after: number }): AsyncIterable<ArchivedChange>;
  get(key: string, revision: number): Promise<{ readonly value: Buffer } | undefined>;
}

const NAMESPACES = tableName(Namespace);
const DEFINITIONS = tableName(CustomResourceDefinition);

export class ChangeSet {
  readonly #objects = new Map<string, Tracked>();
  /** UIDs of objects, and names of namespaces, whose deletion is part of the set. */
  readonly #deletedUids = new Set<string>();
  readonly #deletedNamespaces = new Set<string>();
  /** Tables of kinds whose definition was deleted. */
  readonly #deletedTables = new Set<string>();

  constructor(
    private readonly archive: ReadChanges,
    private readonly range: SetRange,
  ) {}

  /** Adds the next change. Changes must come in order, the oldest first. */
  async add(change: ArchivedChange): Promise<void> {
    const { key, origin, revision, value } = change;
    if (origin?.isStatus || !parseKey(key)) return;
    const next = new State(value);
    const tracked = this.#objects.get(key);
    const isSelected = revision <= this.range.until && this.#isIn(key) && this.#isOfUser(origin?.user);
    const mayBeCascade = !tracked && (!value || next.isTerminating) && isComponent(origin?.user);
    // Most changes are those of components, and need no look at the object.
    if (!tracked && !isSelected && !mayBeCascade) return;
    const previous = await this.#stateBefore(change);
    const isDeletion = !value || (next.isTerminating && !previous.isTerminating);
    if (isSelected || (mayBeCascade && isDeletion && this.#isCascade(key, previous))) {
      const joined = tracked ?? new Tracked(key, revision - 1);
      this.#objects.set(key, joined);
      joined.users.add(origin?.user ?? '');
      if (isDeletion) this.#deleted(joined, previous);
    } else if (tracked && !this.#isExplained(tracked, change, { previous, next })) {
      tracked.conflict ??= change;
    }
  }

  /** The objects of the set, in the order of their first changes. */
  get objects(): readonly ChangedObject[] {
    return [...this.#objects.values()].map(({ key, before, users, conflict }) => {
      return { key, before, users: [...users], conflict };
    });
  }

  async #stateBefore({ key, revision, replaced }: ArchivedChange): Promise<State> {
    const row = replaced === 0 ? undefined : await this.archive.get(key, revision - 1);
    return new State(row?.value ?? null);
  }

  #isIn(key: string): boolean {
    return this.range.namespace === undefined || isIn(this.range.namespace, key);
  }

  #isOfUser(user: string | undefined): boolean {
    return this.range.user === undefined ? !isComponent(user) : user === this.range.user;
  }

  #deleted(tracked: Tracked, { object }: State): void {
    tracked.isDeletionOfSet = true;
    if (object?.metadata.uid) this.#deletedUids.add(object.metadata.uid);
    const parts = parseKey(tracked.key);
    if (parts?.table === NAMESPACES) this.#deletedNamespaces.add(parts.name);
    // A definition is named `PLURAL.GROUP`.
    const [plural = '', ...group] = parts?.name.split('.') ?? [];
    if (parts?.table === DEFINITIONS) this.#deletedTables.add(tableName({ group: group.join('.'), plural }));
  }

  /** Reports whether an object was deleted because the set deleted its namespace, its kind or an owner. */
  #isCascade(key: string, { object }: State): boolean {
    const { namespace = '', table = '' } = parseKey(key) ?? {};
    if (this.#deletedNamespaces.has(namespace) || this.#deletedTables.has(table)) return true;
    return object?.metadata.ownerReferences?.some(({ uid }) => this.#deletedUids.has(uid)) ?? false;
  }

  /** Reports whether a change outside of the set leaves what the set did to the object as it is. */
  #isExplained(tracked: Tracked, { origin }: ArchivedChange, { previous, next }: Step): boolean {
    // The end of a deletion that the set began, or of the finalizers before it.
    if (tracked.isDeletionOfSet && (!next.value || next.isTerminating)) return true;
    if (isComponent(origin?.user)) return true;
    const [is, was] = [next.object, previous.object];
    if (!is || !was || is.metadata.uid !== was.metadata.uid) return false;
    return deepEqual(clientContent(is), clientContent(was));
  }
}

interface Step {
  readonly previous: State;
  readonly next: State;
}
