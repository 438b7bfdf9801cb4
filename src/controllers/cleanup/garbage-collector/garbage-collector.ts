/**
 * Collects what its owners left behind, whatever kind it is. The server marks objects that are deleted with what is to
 * become of their dependents (the finalizers `orphan` and `foregroundDeletion`); here that is carried out. The keys that
 * are planned for are uids.
 */
import type { Kind } from '../../../kinds/kind.ts';
import { type Controller, defineController } from '../../loop/define.ts';
import { followKinds } from './follow-kinds.ts';
import { type GraphNode, isWaiting, ORPHAN, OwnerGraph } from './owner-graph.ts';
import { type JudgedOwner, judgeOwners } from './owners.ts';
import { planCollection, type Relations } from './plan-collection.ts';

export interface GarbageCollectorOptions {
  /** The kinds that are served at this moment; they come and go. */
  readonly kinds: () => Iterable<Kind>;
  /** Calls whenever kinds have come or gone; returns how to stop that. */
  readonly onKindsChange: (listener: () => void) => () => void;
}

/** Deletions share a disk flush, so many are under way at once. */
const WORKERS = 64;

export function garbageCollectorController({ kinds, onKindsChange }: GarbageCollectorOptions): Controller {
  let graph = new OwnerGraph();
  const served = new ServedKinds(kinds);
  /** Objects of which nothing can be said before a kind of their owners is served. */
  const undecided = new Set<string>();
  const changed = () => {
    served.forget();
    const again = [...undecided];
    undecided.clear();
    for (const uid of again) graph.wake(uid);
  };
  return defineController<never, Relations | undefined>({
    name: 'garbage-collector',
    account: 'generic-garbage-collector',
    workers: WORKERS,
    feed: (tools) => {
      // It may run again, after another server did: what is known from before is not.
      graph = new OwnerGraph();
      undecided.clear();
      return followKinds(graph, { kinds, onKindsChange, changed }, tools);
    },
    async observe(_, { key }, { client, signal }) {
      const node = graph.get(key.name);
      if (!node) {
        undecided.delete(key.name);
        return undefined;
      }
      const kindOf = (apiVersion: string, kind: string) => served.find(apiVersion, kind);
      const owners = node.isDeleted ? [] : await judgeOwners(node, { graph, client, signal, kindOf });
      if (owners.some(({ state }) => state === 'unknown')) undecided.add(node.uid);
      return relationsOf(graph, node, owners);
    },
    plan: (_, { observed }) => (observed ? planCollection(observed) : []),
  });
}

/** A crowd of dependents is counted only where it matters. */
export function relationsOf(graph: OwnerGraph, node: GraphNode, owners: readonly JudgedOwner[]): Relations {
  const waits = isWaiting(node) && !node.finalizers.includes(ORPHAN);
  return {
    node,
    owners,
    dependents: waits ? [] : graph.dependentsOf(node.uid),
    isHeldUp: waits && graph.isHeldUp(node.uid),
  };
}

/** Kinds by the version and name that references use. */
class ServedKinds {
  readonly #kinds: () => Iterable<Kind>;
  #known: Map<string, Kind> | undefined;

  constructor(kinds: () => Iterable<Kind>) {
    this.#kinds = kinds;
  }

  find(apiVersion: string, kind: string): Kind | undefined {
    this.#known ??= this.#all();
    return this.#known.get(`${apiVersion} ${kind}`);
  }

  forget(): void {
    this.#known = undefined;
  }

  #all(): Map<string, Kind> {
    const out = new Map<string, Kind>();
    for (const kind of this.#kinds()) {
      for (const { apiVersion } of kind.versions) out.set(`${apiVersion} ${kind.kind}`, kind);
    }
    return out;
  }
}
