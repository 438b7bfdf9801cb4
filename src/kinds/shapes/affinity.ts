/** Where a pod wants to run: near or far from nodes and from other pods. */
import { s } from '../../schema/builders.ts';
import type { TypeOf } from '../../schema/schema.ts';
import { LabelSelector } from './label-selector.ts';
import { NodeSelector, NodeSelectorTerm } from './node-selector.ts';

const PreferredSchedulingTerm = s.object('PreferredSchedulingTerm', {
  weight: s.int32({ zero: true }),
  preference: s.use(NodeSelectorTerm, { zero: true }),
});

const NodeAffinity = s.object('NodeAffinity', {
  requiredDuringSchedulingIgnoredDuringExecution: NodeSelector,
  preferredDuringSchedulingIgnoredDuringExecution: s.list(PreferredSchedulingTerm),
});

const PodAffinityTerm = s.object('PodAffinityTerm', {
  labelSelector: LabelSelector,
  namespaces: s.list(s.string()),
  topologyKey: s.string({ zero: true }),
  namespaceSelector: LabelSelector,
  matchLabelKeys: s.list(s.string()),
  mismatchLabelKeys: s.list(s.string()),
});
export type PodAffinityTerm = TypeOf<typeof PodAffinityTerm>;

const WeightedPodAffinityTerm = s.object('WeightedPodAffinityTerm', {
  weight: s.int32({ zero: true }),
  podAffinityTerm: s.use(PodAffinityTerm, { zero: true }),
});

const podTerms = {
  requiredDuringSchedulingIgnoredDuringExecution: s.list(PodAffinityTerm),
  preferredDuringSchedulingIgnoredDuringExecution: s.list(WeightedPodAffinityTerm),
};

export const Affinity = s.object('Affinity', {
  nodeAffinity: s.use(NodeAffinity, { description: 'Nodes that the pod needs or prefers.' }),
  podAffinity: s.object('PodAffinity', podTerms, { description: 'Pods to be near to.' }),
  podAntiAffinity: s.object('PodAntiAffinity', podTerms, { description: 'Pods to keep away from.' }),
});
export type Affinity = TypeOf<typeof Affinity>;
