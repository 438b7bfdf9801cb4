/**
 * Counts matching pods by topology. Pods of one workload repeat the same query, so that counts are computed once and
 * updated with every pod that is added or removed, until the query has not been used for long.
 */
import { bump, type NodeInfo } from './node-info.ts';
import type { PodInfo } from './pod-info.ts';

/** A set of pods. Equivalent queries have the same key. */
export interface PodQuery {
  readonly key: string;
  readonly namespaces: ReadonlySet<string> | undefined;
  /** Called only for pods in those namespaces. */
  readonly matches: (pod: PodInfo) => boolean;
}

export class PodCounts {
  readonly byNode = new Map<NodeInfo, number>();
  readonly #domains = new Map<string, Map<string, number>>();

  constructor(readonly query: PodQuery) {}

  /** Counts by the value of a node label; nodes without it do not count. */
  in(topologyKey: string): ReadonlyMap<string, number> {
    let domain = this.#domains.get(topologyKey);
    if (!domain) {
      domain = new Map();
      for (const [{ labels }, count] of this.byNode) addTo(domain, labels[topologyKey], count);
      this.#domains.set(topologyKey, domain);
    }
    return domain;
  }

  count(node: NodeInfo, delta: number): void {
    bump(this.byNode, node, delta);
    for (const [key, domain] of this.#domains) addTo(domain, node.labels[key], delta);
  }
}

function addTo(domain: Map<string, number>, value: string | undefined, delta: number): void {
  if (value !== undefined) bump(domain, value, delta);
}

/** The least recently used queries above this number are dropped. */
const MAX_CACHED = 256;
/** Counts of queries with longer keys are not kept. */
const MAX_CACHED_KEY_LENGTH = 10_000;

export class Questions {
  /** Counts in the order of their last use. */
  readonly #known = new Map<string, PodCounts>();

  /** Returns the counts, which keep following the cluster. */
  ask(query: PodQuery, nodes: Iterable<NodeInfo>): PodCounts {
    const { key } = query;
    let counts = this.#known.get(key);
    if (counts) {
      this.#known.delete(key);
    } else {
      counts = new PodCounts(query);
      for (const node of nodes) {
        if (!node.node) continue;
        for (const pod of node.pods.values()) if (concerns(query, pod)) counts.count(node, 1);
      }
      // A client may write a selector, and so a key, of any length.
      if (key.length > MAX_CACHED_KEY_LENGTH) return counts;
      if (this.#known.size >= MAX_CACHED) this.#known.delete(this.#known.keys().next().value!);
    }
    this.#known.set(key, counts);
    return counts;
  }

  count(node: NodeInfo, pod: PodInfo, delta: 1 | -1): void {
    for (const counts of this.#known.values()) if (concerns(counts.query, pod)) counts.count(node, delta);
  }
}

function concerns({ namespaces, matches }: PodQuery, pod: PodInfo): boolean {
  return (namespaces === undefined || namespaces.has(pod.namespace)) && matches(pod);
}
