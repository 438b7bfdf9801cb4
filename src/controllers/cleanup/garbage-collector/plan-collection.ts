/** Plans the deletion of an object because of its owners, and the changes of its dependents. */
import type { DeleteOptions } from '../../../client/request-options.ts';
import { type Action, event, type Named, type Plan, patch, remove, requeueAfter } from '../../loop/plan.ts';
import { FOREGROUND, type GraphNode, isWaiting, ORPHAN, type OwnerReference } from './owner-graph.ts';
import type { OwnerStatus } from './owners.ts';

export interface ObjectRelations {
  readonly node: GraphNode;
  readonly owners: readonly OwnerStatus[];
  readonly dependents: readonly GraphNode[];
  /** True when dependents block its deletion. */
  readonly isBlocked: boolean;
}

export function planCollection({ node, owners, dependents, isBlocked }: ObjectRelations): Plan {
  if (node.isDeleted) {
    if (node.finalizers.includes(ORPHAN)) return orphaned(node, dependents);
    return isWaiting(node) && !isBlocked ? [released(node, FOREGROUND)] : [];
  }
  return [...complaints(node, owners), ...planByOwners(node, owners, dependents), ...recheck(owners)];
}

function planByOwners(node: GraphNode, owners: readonly OwnerStatus[], dependents: readonly GraphNode[]): Plan {
  // With an unknown owner, the object cannot be judged.
  if (owners.length === 0 || owners.some(({ state }) => state === 'unknown')) return [];
  const present = owners.filter(({ state }) => state === 'present');
  if (present.length === owners.length) return [];
  if (present.length > 0) return [owned(node, present.map(referenceOf))];
  const isAwaited = owners.some(({ state }) => state === 'waiting') && dependents.length > 0;
  return [deleted(node, isAwaited ? 'Foreground' : policyOf(node))];
}

/** Interval for looking up owners that cannot be watched. */
const RECHECK_MS = 30_000;

function recheck(owners: readonly OwnerStatus[]): Action[] {
  return owners.some(({ isUnwatched }) => isUnwatched) ? [requeueAfter(RECHECK_MS)] : [];
}

const referenceOf = ({ reference }: OwnerStatus) => reference;

/** Keeps the policy of a deletion that was requested earlier. */
function policyOf({ finalizers }: GraphNode): DeleteOptions['propagationPolicy'] {
  if (finalizers.includes(ORPHAN)) return 'Orphan';
  return finalizers.includes(FOREGROUND) ? 'Foreground' : 'Background';
}

/** Removes the owner reference from dependents before the owner is deleted. */
function orphaned(node: GraphNode, dependents: readonly GraphNode[]): Plan {
  const kept = (dependent: GraphNode) => dependent.owners.filter(({ uid }) => uid !== node.uid);
  return [...dependents.map((dependent) => owned(dependent, kept(dependent))), released(node, ORPHAN)];
}

/** Deletes only the version that was seen: an object that has changed since may have been adopted. */
function deleted(node: GraphNode, propagationPolicy: DeleteOptions['propagationPolicy']): Action {
  const { uid, resourceVersion } = node;
  return remove(node.kind, namedOf(node), { propagationPolicy, preconditions: { uid, resourceVersion } });
}

function owned(node: GraphNode, references: readonly OwnerReference[]): Action {
  return changed(node, { ownerReferences: references.length > 0 ? references : null });
}

function released(node: GraphNode, finalizer: string): Action {
  const finalizers = node.finalizers.filter((each) => each !== finalizer);
  return changed(node, { finalizers: finalizers.length > 0 ? finalizers : null });
}

/** Merge patches, since custom kinds support no strategic ones; the resourceVersion protects concurrent changes. */
function changed(node: GraphNode, metadata: object): Action {
  const { resourceVersion } = node;
  return patch(node.kind, namedOf(node), { type: 'merge', changes: { metadata: { resourceVersion, ...metadata } } });
}

function complaints(node: GraphNode, owners: readonly OwnerStatus[]): Action[] {
  const { apiVersion } = node.kind.hub;
  const about = { apiVersion, kind: node.kind.kind, ...namedOf(node) };
  return owners
    .filter(({ isElsewhere }) => isElsewhere)
    .map(({ reference }) => {
      const { apiVersion: version, kind, namespace, name, uid } = { ...reference, namespace: node.namespace };
      const owner = `[${version}/${kind}, namespace: ${namespace}, name: ${name}, uid: ${uid}]`;
      const message = `ownerRef ${owner} does not exist in namespace ${JSON.stringify(node.namespace)}`;
      return event(about, 'Warning', 'OwnerRefInvalidNamespace', message);
    });
}

function namedOf({ name, namespace, uid, resourceVersion }: GraphNode): Named {
  return { metadata: { name, uid, resourceVersion, namespace: namespace || undefined } };
}
