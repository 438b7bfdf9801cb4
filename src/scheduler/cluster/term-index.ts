/**
 * The affinity terms of pods on nodes, equivalent ones together: their weights by the value of the topology label. A
 * new pod is compared once with every distinct term, most of which are found by a label.
 */
import type { Labels } from '../objects.ts';
import { bump, type NodeInfo } from './node-info.ts';
import type { PodTerm } from './pod-terms.ts';

export interface TermGroup {
  readonly term: PodTerm;
  /** Weights by the value of the topology label. */
  readonly weights: ReadonlyMap<string, number>;
}

interface Group extends TermGroup {
  readonly weights: Map<string, number>;
}

export class TermIndex {
  readonly #groups = new Map<string, Group>();
  /** Groups that require a label, by its key and value. */
  readonly #byLabel = new Map<string, Map<string, Set<Group>>>();
  readonly #others = new Set<Group>();

  get isEmpty(): boolean {
    return this.#groups.size === 0;
  }

  count(term: PodTerm, node: NodeInfo, weight: number): void {
    const value = node.labels[term.topologyKey];
    if (value === undefined) return;
    const known = this.#groups.get(term.key);
    const group = known ?? { term, weights: new Map<string, number>() };
    bump(group.weights, value, weight);
    if (group.weights.size === 0) this.#delete(group);
    else if (!known) this.#add(group);
  }

  /** Calls back with the terms that may select a pod with these labels. */
  each(labels: Labels, visit: (group: TermGroup) => void): void {
    for (const [key, byValue] of this.#byLabel) {
      const value = labels[key];
      if (value !== undefined) byValue.get(value)?.forEach(visit);
    }
    this.#others.forEach(visit);
  }

  #add(group: Group): void {
    this.#groups.set(group.term.key, group);
    const { requiredLabel } = group.term.selector;
    if (!requiredLabel) {
      this.#others.add(group);
      return;
    }
    const [key, value] = requiredLabel;
    const byValue = this.#byLabel.get(key) ?? new Map<string, Set<Group>>();
    this.#byLabel.set(key, byValue);
    const same = byValue.get(value);
    if (same) same.add(group);
    else byValue.set(value, new Set([group]));
  }

  #delete(group: Group): void {
    this.#groups.delete(group.term.key);
    this.#others.delete(group);
    const [key = '', value = ''] = group.term.selector.requiredLabel ?? [];
    const byValue = this.#byLabel.get(key);
    const same = byValue?.get(value);
    same?.delete(group);
    if (same?.size === 0) byValue?.delete(value);
    if (byValue?.size === 0) this.#byLabel.delete(key);
  }
}
