import type { DeepReadonly, KindRef } from '../../api/object-types.ts';
import { controllerOf, keyOf } from '../../client/informer/object-cache.ts';
import type { KubeObject } from '../../kinds/kind.ts';
import { fromLabelSelector, fromLabels, type LabelSelector } from '../../schema/selector/selector.ts';
import { type Listers, type ReadTools, type Related, related } from '../loop/define.ts';
import { type Action, type Named, patch, update } from '../loop/plan.ts';
import { selectorIndex } from './selector-index.ts';

/** Describes how owners of one kind find their objects of another kind. */
export interface Ownership<Owner, T> {
  readonly owner: KindRef<Owner>;
  readonly kind: KindRef<T>;
  /** The selector of the owner's objects. */
  selector(owner: DeepReadonly<Owner>): LabelSelector;
  /** Objects for which this is false are neither adopted nor released. Default: all count. */
  counts?(object: DeepReadonly<T>, owner: DeepReadonly<Owner>): boolean;
  /** Added to adopted objects. */
  readonly finalizers?: readonly string[];
}

export interface Claim<T> {
  /** The owner's objects, including those that the actions adopt. */
  readonly mine: readonly DeepReadonly<T>[];
  /** Actions to perform before anything that depends on `mine`. */
  readonly actions: readonly Action[];
}

/** `mayAdopt`: the earlier result of observeAdoption. */
export function claim<Owner extends KubeObject, T extends KubeObject>(
  owner: DeepReadonly<Owner>,
  ownership: Ownership<Owner, T>,
  { world, mayAdopt }: { readonly world: Listers; readonly mayAdopt: boolean },
): Claim<T> {
  const { counts, kind } = ownership;
  const selector = ownership.selector(owner);
  const matching: DeepReadonly<T>[] = [];
  const released: DeepReadonly<T>[] = [];
  for (const object of world.of(kind).controlledBy(owner.metadata.uid ?? '')) {
    if (counts && !counts(object, owner)) continue;
    (selector.matches(object.metadata.labels) ? matching : released).push(object);
  }
  // An owner that is being deleted leaves everything to the garbage collector.
  if (owner.metadata.deletionTimestamp) return { mine: matching, actions: [] };
  const adopted = mayAdopt ? adoptable(owner, ownership, world) : [];
  return {
    mine: adopted.length > 0 ? [...matching, ...adopted] : matching,
    actions: [
      ...released.map((object) => patch(kind, object, release(owner, object))),
      ...adopted.map((object) => patch(kind, object, adoption(owner, object, ownership))),
    ],
  };
}

/**
 * Reports whether orphans may be adopted: there are some, and the owner, read from the server, is the same and not
 * being deleted. With a lagging cache, a deleted owner would adopt what its deletion has orphaned.
 */
export async function observeAdoption<Owner extends KubeObject, T extends KubeObject>(
  owner: DeepReadonly<Owner> | undefined,
  ownership: Ownership<Owner, T>,
  { world, client, signal }: ReadTools & { readonly world: Listers },
): Promise<boolean> {
  if (!owner || owner.metadata.deletionTimestamp) return false;
  if (adoptable(owner, ownership, world).length === 0) return false;
  const { name = '', namespace, uid } = owner.metadata;
  const found = (await client.of(ownership.owner).in(namespace).find(name, { signal })) as Named | undefined;
  return found?.metadata.uid === uid && !found?.metadata.deletionTimestamp;
}

/** Related kind for a controller's `also`: an orphan wakes every owner that could adopt it. */
export function orphansOf<Owner extends KubeObject, T extends KubeObject>(ownership: Ownership<Owner, T>): Related {
  const { owner, kind, selector } = ownership;
  const ownersOf = selectorIndex(owner, selector);
  return related(kind, (object, world) => {
    if (controllerOf(object)) return [];
    const { namespace = '', labels } = object.metadata;
    return ownersOf(labels, namespace, world).map(keyOf);
  });
}

/** Orders objects by age, and of one age by name. */
export function olderFirst({ metadata: a }: Named, { metadata: b }: Named): number {
  const [timeA = '', timeB = ''] = [a.creationTimestamp, b.creationTimestamp];
  if (timeA !== timeB) return timeA < timeB ? -1 : 1;
  return (a.name ?? '') < (b.name ?? '') ? -1 : 1;
}

export function removeFinalizer(kind: KindRef, object: Named, finalizer: string): Action {
  const finalizers = object.metadata.finalizers?.filter((each) => each !== finalizer) ?? [];
  return update<any>(kind, { ...object, metadata: { ...object.metadata, finalizers } });
}

export function controllerReference(owner: Named, kind: KindRef) {
  const { name = '', uid = '' } = owner.metadata;
  const apiVersion = kind.hub.apiVersion;
  return { apiVersion, kind: kind.kind, name, uid, controller: true, blockOwnerDeletion: true };
}

/** Compiles a selector once. */
export const compiledSelector = once(fromLabelSelector);

/** Compiles a map of labels once. */
export const compiledLabels = once((labels: Readonly<Record<string, string>> | undefined) => fromLabels(labels ?? {}));

/** Objects are immutable, so that the result is cached for each. */
function once<T extends object>(make: (from: T | undefined) => LabelSelector): (from: T | undefined) => LabelSelector {
  const known = new WeakMap<T, LabelSelector>();
  return (from) => {
    const found = from && known.get(from);
    if (found) return found;
    const made = make(from);
    if (from) known.set(from, made);
    return made;
  };
}

function adoptable<Owner extends KubeObject, T extends KubeObject>(
  owner: DeepReadonly<Owner>,
  ownership: Ownership<Owner, T>,
  world: Listers,
): readonly DeepReadonly<T>[] {
  const { counts = () => true, kind } = ownership;
  const selector = ownership.selector(owner);
  return world
    .of(kind)
    .orphans(owner.metadata.namespace ?? '')
    .filter(
      (each) => !each.metadata.deletionTimestamp && counts(each, owner) && selector.matches(each.metadata.labels),
    );
}

/** The UID makes sure that it is not a later object of the same name. */
function adoption(owner: Named, { metadata }: Named, ownership: Ownership<any, any>) {
  const { finalizers, owner: ownerKind } = ownership;
  const changes = {
    metadata: {
      uid: metadata.uid,
      ownerReferences: [controllerReference(owner, ownerKind)],
      ...(finalizers ? { finalizers } : {}),
    },
  };
  return { type: 'strategic', changes } as const;
}

function release(owner: Named, { metadata }: Named) {
  const ownerReferences = [{ $patch: 'delete', uid: owner.metadata.uid }];
  return { type: 'strategic', changes: { metadata: { uid: metadata.uid, ownerReferences } } } as const;
}
