/**
 * Deletes objects of any kind whose owners are gone. The server marks deleted objects with the fate of their dependents
 * (the finalizers `orphan` and `foregroundDeletion`); this controller carries it out. Its keys are UIDs.
 */

import type { DeleteOptions } from '../../../client/request-options.ts';
import type { Kind } from '../../../kinds/kind.ts';
import { type Controller, defineController } from '../../loop/define.ts';
import { type Action, event, type Named, type Plan, patch, remove, requeueAfter } from '../../loop/plan.ts';
import {
  AggregatedKinds,
  type AggregatedOptions,
  hasVerbs,
  type KindsOptions,
  type ServedKind,
} from '../../shared/aggregated-kinds.ts';
import { type FollowOptions, followKinds } from './follow-kinds.ts';
import { FOREGROUND, type GraphNode, isWaiting, ORPHAN, OwnerGraph, type OwnerReference } from './owner-graph.ts';
import { type OwnerStatus, statusOfOwners } from './owners.ts';

export type GarbageCollectorOptions = AggregatedOptions & KindsOptions & Pick<FollowOptions, 'onKindsChange'>;

/** Deletions share disk flushes, so that many run concurrently. */
const WORKERS = 64;

export function garbageCollectorController(options: GarbageCollectorOptions): Controller {
  const { kinds, onKindsChange } = options;
  let graph = new OwnerGraph();
  const aggregated = new AggregatedKinds(options);
  const served = new ServedKinds(kinds, aggregated);
  /** Objects that cannot be judged before the kind of an owner is served. */
  const undecided = new Set<string>();
  const changed = () => {
    served.forget();
    const again = [...undecided];
    undecided.clear();
    for (const uid of again) graph.wake(uid);
  };
  return defineController<never, ObjectRelations | undefined>({
    name: 'garbage-collector',
    account: 'generic-garbage-collector',
    workers: WORKERS,
    feed: (tools) => {
      // It may run again after another server has: earlier knowledge is stale.
      graph = new OwnerGraph();
      undecided.clear();
      return followKinds(graph, { kinds, aggregated, onKindsChange, changed }, tools);
    },
    async observe(_, { key }, { client, signal }) {
      const node = graph.get(key.name);
      if (!node) {
        undecided.delete(key.name);
        return undefined;
      }
      const kindOf = (apiVersion: string, kind: string) => served.find(apiVersion, kind);
      // Before the owners are looked up, so that a change meanwhile wakes it once more.
      undecided.add(node.uid);
      const owners = node.isDeleted ? [] : await statusOfOwners(node, { graph, client, signal, kindOf });
      if (owners.every(({ state }) => state !== 'unknown')) undecided.delete(node.uid);
      return relationsOf(graph, node, owners);
    },
    plan: (_, { observed }) => (observed ? planCollection(observed) : []),
  });
}

/** Dependents are looked up only where they matter: there may be many. */
export function relationsOf(graph: OwnerGraph, node: GraphNode, owners: readonly OwnerStatus[]): ObjectRelations {
  const waits = isWaiting(node) && !node.finalizers.includes(ORPHAN);
  return {
    node,
    owners,
    dependents: waits ? [] : graph.dependentsOf(node.uid),
    isBlocked: waits && graph.isBlocked(node.uid),
  };
}

/** Kinds by the API version and kind of owner references. */
class ServedKinds {
  #known: Map<string, ServedKind> | undefined;

  constructor(
    private readonly kinds: () => Iterable<Kind>,
    private readonly aggregated: AggregatedKinds,
  ) {}

  find(apiVersion: string, kind: string): ServedKind | undefined {
    this.#known ??= this.#all();
    return this.#known.get(`${apiVersion} ${kind}`);
  }

  forget(): void {
    this.#known = undefined;
  }

  /** A version that another server serves is that server's, also as long as it cannot be asked. */
  #all(): Map<string, ServedKind> {
    const out = new Map<string, ServedKind>();
    const elsewhere = this.aggregated.ofVersions();
    const taken = new Set(elsewhere.map(({ apiVersion }) => apiVersion));
    for (const kind of this.kinds()) {
      for (const { apiVersion } of kind.versions)
        if (!taken.has(apiVersion)) out.set(`${apiVersion} ${kind.kind}`, kind);
    }
    for (const { apiVersion, isStale, kinds } of elsewhere) {
      if (isStale) continue;
      for (const kind of kinds) if (hasVerbs(kind, 'get')) out.set(`${apiVersion} ${kind.kind}`, kind);
    }
    return out;
  }
}

interface ObjectRelations {
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
