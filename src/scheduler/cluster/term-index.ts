/**
 * The affinity terms of pods on nodes, equivalent ones together: the weights of a term by the value of its topology label. A
 * new pod is compared with every distinct term once, not with every pod.
 */
import { bump, type NodeInfo } from './node-info.ts';
import type { PodTerm } from './pod-terms.ts';

export interface TermGroup {
  readonly term: PodTerm;
  /** Weights by the value of the topology label. */
  readonly weights: ReadonlyMap<string, number>;
}

export class TermIndex {
  readonly #groups = new Map<string, { readonly term: PodTerm; readonly weights: Map<string, number> }>();

  get groups(): Iterable<TermGroup> {
    return this.#groups.values();
  }

  get isEmpty(): boolean {
    return this.#groups.size === 0;
  }

  count(term: PodTerm, node: NodeInfo, weight: number): void {
    const value = node.labels[term.topologyKey];
    if (value === undefined) return;
    const group = this.#groups.get(term.key) ?? { term, weights: new Map<string, number>() };
    bump(group.weights, value, weight);
    if (group.weights.size > 0) this.#groups.set(term.key, group);
    else this.#groups.delete(term.key);
  }
}
