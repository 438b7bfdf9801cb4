/**
 * The affinity terms of pods that are on nodes, those that mean the same together: which values of its topology label carry
 * a term, and with what weight. A new pod is held against every distinct term once, not against every pod.
 */
import { bump, type NodeInfo } from './node-info.ts';
import type { PodTerm } from './pod-terms.ts';

export interface TermGroup {
  readonly term: PodTerm;
  /** Weights by value of the topology label. */
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
