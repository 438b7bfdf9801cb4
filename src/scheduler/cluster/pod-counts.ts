/**
 * How many pods of a sort are where. A sort is asked about by pod after pod of one workload, so the count is made once and
 * kept up with every pod that comes or goes, until nobody has asked for long.
 */
import { bump, type NodeInfo } from './node-info.ts';
import type { PodInfo } from './pod-info.ts';

/** A sort of pods. Questions that mean the same have the same key. */
export interface Question {
  readonly key: string;
  /** Where such pods can be; undefined: in every namespace. */
  readonly namespaces: ReadonlySet<string> | undefined;
  /** Asked of pods in those namespaces alone. */
  readonly matches: (pod: PodInfo) => boolean;
}

export class PodCounts {
  readonly question: Question;
  readonly byNode = new Map<NodeInfo, number>();
  readonly #domains = new Map<string, Map<string, number>>();

  constructor(question: Question) {
    this.question = question;
  }

  /** By the values of a node label; nodes without it do not count. */
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

/** Questions beyond these are forgotten, those first that were asked longest ago. */
const KEPT = 256;

export class Questions {
  /** In the order of their last use. */
  readonly #known = new Map<string, PodCounts>();

  /** The counts, which go on following the cluster. */
  ask(question: Question, nodes: Iterable<NodeInfo>): PodCounts {
    const { key } = question;
    let counts = this.#known.get(key);
    if (counts) {
      this.#known.delete(key);
    } else {
      counts = new PodCounts(question);
      for (const node of nodes) {
        if (!node.node) continue;
        for (const pod of node.pods.values()) if (concerns(question, pod)) counts.count(node, 1);
      }
      if (this.#known.size >= KEPT) this.#known.delete(this.#known.keys().next().value!);
    }
    this.#known.set(key, counts);
    return counts;
  }

  count(node: NodeInfo, pod: PodInfo, delta: 1 | -1): void {
    for (const counts of this.#known.values()) if (concerns(counts.question, pod)) counts.count(node, delta);
  }
}

function concerns({ namespaces, matches }: Question, pod: PodInfo): boolean {
  return (namespaces === undefined || namespaces.has(pod.namespace)) && matches(pod);
}
