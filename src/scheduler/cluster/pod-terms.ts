/** Compiles pod affinity terms. Equivalent terms have the same key, so that they are counted together. */
import { fromLabelSelector, type LabelSelector } from '../../schema/selector/selector.ts';
import type { Labels, Pod } from '../objects.ts';

type Affinity = NonNullable<NonNullable<Pod['spec']['affinity']>['podAffinity']>;
type Source = NonNullable<Affinity['requiredDuringSchedulingIgnoredDuringExecution']>[number];

export interface PodTerm {
  readonly key: string;
  readonly topologyKey: string;
  readonly namespaces: ReadonlySet<string>;
  /** Further namespaces, selected by their labels. */
  readonly namespaceSelector: LabelSelector | undefined;
  readonly selector: LabelSelector;
}

export interface WeightedTerm {
  readonly term: PodTerm;
  readonly weight: number;
}

export function requiredTerms(affinity: Affinity | undefined, namespace: string): readonly PodTerm[] {
  return affinity?.requiredDuringSchedulingIgnoredDuringExecution?.map((each) => podTerm(each, namespace)) ?? NONE;
}

export function preferredTerms(affinity: Affinity | undefined, namespace: string): readonly WeightedTerm[] {
  const list = affinity?.preferredDuringSchedulingIgnoredDuringExecution;
  return list?.map((each) => ({ weight: each.weight, term: podTerm(each.podAffinityTerm, namespace) })) ?? NONE;
}

const NONE: readonly never[] = Object.freeze([]);

function podTerm(source: Source, own: string): PodTerm {
  const { topologyKey, namespaces = [], namespaceSelector } = source;
  const named = namespaces.length === 0 && !namespaceSelector ? [own] : [...namespaces].sort();
  const selector = fromLabelSelector(source.labelSelector);
  const further = namespaceSelector ? fromLabelSelector(namespaceSelector) : undefined;
  const pods = source.labelSelector ? selector.text : '-';
  const key = `${topologyKey}\n${named.join()}\n${further ? `+${further.text}` : ''}\n${pods}`;
  return { key, topologyKey, namespaces: new Set(named), namespaceSelector: further, selector };
}

/** Reports whether the term matches a pod with these labels, in a namespace with those. */
export function matchesTerm(
  { namespaces, namespaceSelector, selector }: PodTerm,
  pod: { readonly namespace: string; readonly labels: Labels },
  namespaceLabels: Labels,
): boolean {
  if (!namespaces.has(pod.namespace) && !namespaceSelector?.matches(namespaceLabels)) return false;
  return selector.matches(pod.labels);
}
