/**
 * Graph of owners over all kinds, with only the parts of each object that decide when it is deleted. It wakes the
 * objects that a change may affect. An unknown owner is not in the graph, but its dependents are found by its UID.
 */

import type { DeepReadonly } from '../../../api/object-types.ts';
import { getOrInsert } from '../../../base/collections/get-or-insert.ts';
import { sameItems } from '../../../base/collections/same-items.ts';
import { type KubeObject, splitApiVersion } from '../../../kinds/kind.ts';
import type { ObjectMeta } from '../../../kinds/shapes/meta/object-meta.ts';
import type { ServedKind } from '../../shared/aggregated-kinds.ts';

export type OwnerReference = DeepReadonly<NonNullable<ObjectMeta['ownerReferences']>[number]>;

export const ORPHAN = 'orphan';
export const FOREGROUND = 'foregroundDeletion';

/** An object in the graph. It is replaced, never modified. */
export interface GraphNode {
  readonly kind: ServedKind;
  readonly uid: string;
  readonly name: string;
  readonly namespace: string;
  readonly resourceVersion: string;
  readonly owners: readonly OwnerReference[];
  readonly finalizers: readonly string[];
  /** True once its deletion has been requested. */
  readonly isDeleted: boolean;
}

/** Reports whether the object is being deleted in the foreground and still waits for its dependents. */
export const isWaiting = (node: Pick<GraphNode, 'isDeleted' | 'finalizers'>) =>
  node.isDeleted && node.finalizers.includes(FOREGROUND);

const NONE: readonly never[] = [];

export function nodeOf(kind: ServedKind, { metadata }: DeepReadonly<KubeObject>): GraphNode {
  return {
    kind,
    uid: metadata.uid ?? '',
    name: metadata.name ?? '',
    namespace: metadata.namespace ?? '',
    resourceVersion: metadata.resourceVersion ?? '',
    owners: metadata.ownerReferences ?? NONE,
    finalizers: metadata.finalizers ?? NONE,
    isDeleted: metadata.deletionTimestamp !== undefined,
  };
}

export class OwnerGraph {
  readonly #nodes = new Map<string, GraphNode>();
  readonly #dependents = new Map<string, Set<string>>();
  readonly #gone = new RecentlyGone();
  /** Called with the UID of an object to plan for. */
  wake: (uid: string) => void = () => {};

  get(uid: string): GraphNode | undefined {
    return this.#nodes.get(uid);
  }

  /** Objects with this UID among their owners. */
  dependentsOf(uid: string): readonly GraphNode[] {
    const uids = this.#dependents.get(uid);
    return uids ? [...uids].map((each) => this.#nodes.get(each) as GraphNode) : NONE;
  }

  /**
   * Reports whether a dependent blocks the deletion of a waiting object. Dependents that wait for it in turn do not
   * block it: otherwise neither would be deleted.
   */
  isBlocked(uid: string): boolean {
    let waiting: ReadonlySet<string> | undefined;
    for (const dependent of this.#dependents.get(uid) ?? NONE) {
      const node = this.#nodes.get(dependent) as GraphNode;
      if (!isHolder(node, uid)) continue;
      if (!isWaiting(node)) return true;
      waiting ??= this.#waitingFor(uid);
      if (!waiting.has(dependent)) return true;
    }
    return false;
  }

  /** Reports whether the owner is known not to exist at the place that the dependent refers to. */
  isGone(identityKey: string): boolean {
    return this.#gone.has(identityKey);
  }

  markGone(identityKey: string): void {
    this.#gone.add(identityKey);
  }

  put(node: GraphNode): void {
    const old = this.#nodes.get(node.uid);
    if (node.kind.isAggregated && !isItsOwn(node, old)) return;
    this.#nodes.set(node.uid, node);
    if (node.owners !== old?.owners) this.#relate(node, old?.owners ?? NONE);
    if (!node.isDeleted || (old?.isDeleted && sameItems(node.finalizers, old.finalizers))) return;
    if (isWaiting(node)) this.#wakeDependents(node.uid);
    if (isWaiting(node) || node.finalizers.includes(ORPHAN)) this.wake(node.uid);
  }

  remove(uid: string): void {
    const node = this.#nodes.get(uid);
    if (!node) return;
    this.#nodes.delete(uid);
    for (const owner of node.owners) {
      this.#leave(owner.uid, uid);
      this.#wakeIfWaiting(owner.uid);
    }
    if (!this.#dependents.has(uid)) return;
    // Objects of another server may still exist without having been sent: that server is asked.
    if (!node.kind.isAggregated) this.#gone.add(identityKeyOf(node));
    this.#wakeDependents(uid);
  }

  /** Drops a kind that is no longer served. The fate of its dependents is unknown, so that they stay. */
  forget(kind: ServedKind): void {
    for (const node of [...this.#nodes.values()]) {
      if (node.kind !== kind) continue;
      this.#nodes.delete(node.uid);
      for (const { uid } of node.owners) {
        this.#leave(uid, node.uid);
        this.#wakeIfWaiting(uid);
      }
    }
  }

  *ofKind(kind: ServedKind): Iterable<GraphNode> {
    for (const node of this.#nodes.values()) if (node.kind === kind) yield node;
  }

  /** The object itself, and those that wait for it: its owners whose deletion it blocks, their owners, and so on. */
  #waitingFor(uid: string): ReadonlySet<string> {
    const found = new Set([uid]);
    for (const each of found) {
      for (const owner of this.#nodes.get(each)?.owners ?? NONE) {
        const node = owner.blockOwnerDeletion ? this.#nodes.get(owner.uid) : undefined;
        if (node && isWaiting(node)) found.add(owner.uid);
      }
    }
    return found;
  }

  #relate(node: GraphNode, before: readonly OwnerReference[]): void {
    const after = byUid(node.owners);
    for (const old of before) {
      const now = after.get(old.uid);
      if (!now) this.#leave(old.uid, node.uid);
      if (!now || now.blockOwnerDeletion !== old.blockOwnerDeletion) this.#wakeIfWaiting(old.uid);
    }
    const known = byUid(before);
    let isInDoubt = false;
    for (const reference of node.owners) {
      if (!known.has(reference.uid)) this.#enter(reference.uid, node.uid);
      const owner = this.#nodes.get(reference.uid);
      isInDoubt ||= !owner || isWaiting(owner) || !isNamedBy(owner, reference, node);
    }
    if (isInDoubt) this.wake(node.uid);
  }

  #wakeDependents(uid: string): void {
    for (const dependent of this.#dependents.get(uid) ?? NONE) this.wake(dependent);
  }

  #wakeIfWaiting(uid: string): void {
    const owner = this.#nodes.get(uid);
    if (owner && isWaiting(owner)) this.wake(uid);
  }

  #enter(owner: string, dependent: string): void {
    getOrInsert(this.#dependents, owner, () => new Set()).add(dependent);
  }

  #leave(owner: string, dependent: string): void {
    const dependents = this.#dependents.get(owner);
    dependents?.delete(dependent);
    if (dependents?.size === 0) this.#dependents.delete(owner);
  }
}

/** Reports whether an object of another server has a UID of no other resource: that server chose it. */
function isItsOwn({ uid, kind }: GraphNode, known: GraphNode | undefined): boolean {
  return uid !== '' && (!known || isSameResource(kind, known.kind));
}

/** Reports whether both are the same resource, which may have become another value when its verbs changed. */
export function isSameResource(a: ServedKind, b: ServedKind): boolean {
  return a === b || (a.group === b.group && a.plural === b.plural);
}

/** Maps references by UID; the first wins when several refer to one object. */
function byUid(references: readonly OwnerReference[]): ReadonlyMap<string, OwnerReference> {
  return new Map(references.toReversed().map((reference) => [reference.uid, reference]));
}

/** Reports whether the dependent blocks the deletion of the owner. */
const isHolder = ({ owners }: GraphNode, owner: string) =>
  owners.some(({ uid, blockOwnerDeletion }) => uid === owner && blockOwnerDeletion);

/** Reports whether the reference matches the owner's kind, name and namespace. */
export function isNamedBy(
  owner: GraphNode,
  reference: OwnerReference,
  dependent: Pick<GraphNode, 'namespace'>,
): boolean {
  const { kind, name, namespace } = owner;
  return (
    reference.name === name &&
    reference.kind === kind.kind &&
    kind.versions.some(({ group }) => group === splitApiVersion(reference.apiVersion)[0]) &&
    (namespace === '' || namespace === dependent.namespace)
  );
}

/** Identifies an object by UID and location. */
export function identityKeyOf({
  kind,
  uid,
  namespace,
  name,
}: Pick<GraphNode, 'kind' | 'uid' | 'namespace' | 'name'>): string {
  return `${uid} ${kind.group}/${kind.plural} ${namespace}/${name}`;
}

/** Number above which the oldest are forgotten and would be looked up once more. */
const MAX_REMEMBERED = 1000;
const MAX_REMEMBERED_LENGTH = 1000;

/** Objects that do not exist and, having a UID, never will again. */
class RecentlyGone {
  readonly #places = new Set<string>();

  has(identityKey: string): boolean {
    return this.#places.has(identityKey);
  }

  add(identityKey: string): void {
    // A client may write references of any length.
    if (identityKey.length > MAX_REMEMBERED_LENGTH) return;
    this.#places.add(identityKey);
    if (this.#places.size <= MAX_REMEMBERED) return;
    const [oldest] = this.#places;
    this.#places.delete(oldest as string);
  }
}
