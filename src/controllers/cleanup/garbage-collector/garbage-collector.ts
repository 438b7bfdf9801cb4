/**
 * Deletes objects of any kind whose owners are gone. The server marks deleted objects with the fate of their dependents
 * (the finalizers `orphan` and `foregroundDeletion`); this controller carries it out. Its keys are UIDs.
 */
import type { Kind } from '../../../kinds/kind.ts';
import { type Controller, defineController } from '../../loop/define.ts';
import { AggregatedKinds, type AggregatedOptions, hasVerbs, type ServedKind } from '../../shared/aggregated-kinds.ts';
import { followKinds } from './follow-kinds.ts';
import { type GraphNode, isWaiting, ORPHAN, OwnerGraph } from './owner-graph.ts';
import { type OwnerStatus, statusOfOwners } from './owners.ts';
import { type ObjectRelations, planCollection } from './plan-collection.ts';

export interface GarbageCollectorOptions extends AggregatedOptions {
  /** The kinds that are currently served; they change at run time. */
  readonly kinds: () => Iterable<Kind>;
  /** Calls the listener whenever kinds or aggregated APIs are added, changed or removed; returns a function to stop that. */
  readonly onKindsChange: (listener: () => void) => () => void;
}

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
  readonly #kinds: () => Iterable<Kind>;
  readonly #aggregated: AggregatedKinds;
  #known: Map<string, ServedKind> | undefined;

  constructor(kinds: () => Iterable<Kind>, aggregated: AggregatedKinds) {
    this.#kinds = kinds;
    this.#aggregated = aggregated;
  }

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
    const elsewhere = this.#aggregated.ofVersions();
    const taken = new Set(elsewhere.map(({ apiVersion }) => apiVersion));
    for (const kind of this.#kinds()) {
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
