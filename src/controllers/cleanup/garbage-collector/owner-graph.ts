/**
 * Who owns whom, over all kinds: of every object only what decides when it goes. It wakes the objects whose fate a change
 * may have decided. An owner that is not known is not in the graph; its dependents are found by its uid all the same.
 */
import type { DeepReadonly } from '../../../client/object-types.ts';
import type { Kind, KubeObject } from '../../../kinds/kind.ts';
import type { ObjectMeta } from '../../../kinds/shapes/meta/object-meta.ts';

export type OwnerReference = DeepReadonly<NonNullable<ObjectMeta['ownerReferences']>[number]>;

export const ORPHAN = 'orphan';
export const FOREGROUND = 'foregroundDeletion';

/** An object as the graph knows it. It is replaced, never changed. */
export interface GraphNode {
  readonly kind: Kind;
  readonly uid: string;
  readonly name: string;
  readonly namespace: string;
  readonly resourceVersion: string;
  readonly owners: readonly OwnerReference[];
  readonly finalizers: readonly string[];
  /** It was asked to go. */
  readonly isDeleted: boolean;
}

/** It was asked to go, and waits for those that hold it up. */
export const isWaiting = (node: Pick<GraphNode, 'isDeleted' | 'finalizers'>) =>
  node.isDeleted && node.finalizers.includes(FOREGROUND);

const NONE: readonly never[] = [];

const isSame = (a: readonly string[], b: readonly string[]) =>
  a === b || (a.length === b.length && a.every((each, index) => each === b[index]));

export function nodeOf(kind: Kind, { metadata }: DeepReadonly<KubeObject>): GraphNode {
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
  /** Whom to tell; objects are told by their uid. */
  wake: (uid: string) => void = () => {};

  get(uid: string): GraphNode | undefined {
    return this.#nodes.get(uid);
  }

  /** Those that name this uid among their owners. */
  dependentsOf(uid: string): readonly GraphNode[] {
    const uids = this.#dependents.get(uid);
    return uids ? [...uids].map((each) => this.#nodes.get(each) as GraphNode) : NONE;
  }

  /** Whether somebody holds up the end of an object that waits. Those that wait for it in turn do not: nobody would go. */
  isHeldUp(uid: string): boolean {
    return this.#holders(uid).some((holder) => !(isWaiting(holder) && this.#waitsFor(holder.uid, uid, new Set())));
  }

  /** Whether the owner is known not to exist where the dependent says it is. */
  isGone(place: string): boolean {
    return this.#gone.has(place);
  }

  markGone(place: string): void {
    this.#gone.add(place);
  }

  put(node: GraphNode): void {
    const old = this.#nodes.get(node.uid);
    this.#nodes.set(node.uid, node);
    if (node.owners !== old?.owners) this.#relate(node, old?.owners ?? NONE);
    if (!node.isDeleted || (old?.isDeleted && isSame(node.finalizers, old.finalizers))) return;
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
    this.#gone.add(placeOf(node));
    this.#wakeDependents(uid);
  }

  /** The kind is not served any more. What becomes of the dependents is not known, so they stay. */
  forget(kind: Kind): void {
    for (const node of [...this.#nodes.values()]) {
      if (node.kind !== kind) continue;
      this.#nodes.delete(node.uid);
      for (const { uid } of node.owners) this.#leave(uid, node.uid);
    }
  }

  *ofKind(kind: Kind): Iterable<GraphNode> {
    for (const node of this.#nodes.values()) if (node.kind === kind) yield node;
  }

  #holders(uid: string): readonly GraphNode[] {
    return this.dependentsOf(uid).filter(({ owners }) =>
      owners.some((owner) => owner.uid === uid && owner.blockOwnerDeletion),
    );
  }

  #waitsFor(uid: string, target: string, seen: Set<string>): boolean {
    if (uid === target) return true;
    if (seen.has(uid)) return false;
    seen.add(uid);
    return this.#holders(uid).some((holder) => isWaiting(holder) && this.#waitsFor(holder.uid, target, seen));
  }

  #relate(node: GraphNode, before: readonly OwnerReference[]): void {
    for (const old of before) {
      const now = node.owners.find(({ uid }) => uid === old.uid);
      if (!now) this.#leave(old.uid, node.uid);
      if (!now || now.blockOwnerDeletion !== old.blockOwnerDeletion) this.#wakeIfWaiting(old.uid);
    }
    let isInDoubt = false;
    for (const reference of node.owners) {
      const known = before.find(({ uid }) => uid === reference.uid);
      if (!known) this.#enter(reference.uid, node.uid);
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
    const dependents = this.#dependents.get(owner);
    if (dependents) dependents.add(dependent);
    else this.#dependents.set(owner, new Set([dependent]));
  }

  #leave(owner: string, dependent: string): void {
    const dependents = this.#dependents.get(owner);
    dependents?.delete(dependent);
    if (dependents?.size === 0) this.#dependents.delete(owner);
  }
}

/** Whether the reference names the owner by what it is and where the dependent can have its owners. */
export function isNamedBy(
  owner: GraphNode,
  reference: OwnerReference,
  dependent: Pick<GraphNode, 'namespace'>,
): boolean {
  const { kind, name, namespace } = owner;
  return (
    reference.name === name &&
    reference.kind === kind.kind &&
    kind.versions.some(({ group }) => group === groupOf(reference.apiVersion)) &&
    (namespace === '' || namespace === dependent.namespace)
  );
}

/** An object that has a uid, and where it is; two of them are the same only if all of it is. */
export function placeOf({
  kind,
  uid,
  namespace,
  name,
}: Pick<GraphNode, 'kind' | 'uid' | 'namespace' | 'name'>): string {
  return `${uid} ${kind.group}/${kind.plural} ${namespace}/${name}`;
}

const groupOf = (apiVersion: string) => (apiVersion.includes('/') ? apiVersion.slice(0, apiVersion.indexOf('/')) : '');

/** How many are remembered; who is forgotten is looked for once more. */
const REMEMBERED = 1000;

/** Objects that do not exist and, having a uid, never will again. */
class RecentlyGone {
  readonly #places = new Set<string>();

  has(place: string): boolean {
    return this.#places.has(place);
  }

  add(place: string): void {
    this.#places.add(place);
    if (this.#places.size <= REMEMBERED) return;
    const [oldest] = this.#places;
    this.#places.delete(oldest as string);
  }
}
