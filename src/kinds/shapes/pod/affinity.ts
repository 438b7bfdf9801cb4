/** Where a pod wants to run: near or far from nodes and from other pods. */
import { s } from '../../../schema/builders.ts';
import { type FieldError, invalid, required } from '../../../schema/field-error.ts';
import { dnsLabel, qualifiedName } from '../../../schema/names.ts';
import type { ObjectType, TypeOf } from '../../../schema/schema.ts';
import { labelKeys } from '../meta/label-keys.ts';
import { LabelSelector } from '../meta/label-selector.ts';
import { NodeSelector, PreferredNodeSelectorTerm } from './node-selector.ts';

const weight = s.int32({
  zero: true,
  rules: [(value: number) => (value < 1 || value > 100 ? invalid('', value, 'must be in the range 1-100') : undefined)],
});

const PreferredSchedulingTerm = s.object('PreferredSchedulingTerm', { weight, preference: PreferredNodeSelectorTerm });

const NodeAffinity = s.object('NodeAffinity', {
  requiredDuringSchedulingIgnoredDuringExecution: NodeSelector,
  preferredDuringSchedulingIgnoredDuringExecution: s.list(PreferredSchedulingTerm),
});
export type NodeAffinity = TypeOf<typeof NodeAffinity>;

const podAffinityTerm = {
  labelSelector: LabelSelector,
  namespaces: s.list(s.string()),
  topologyKey: s.string({ zero: true }),
  namespaceSelector: LabelSelector,
  matchLabelKeys: s.list(s.string()),
  mismatchLabelKeys: s.list(s.string()),
};
export type PodAffinityTerm = ObjectType<typeof podAffinityTerm>;

function term(value: PodAffinityTerm): FieldError[] {
  const { namespaces, topologyKey } = value;
  const found = labelKeys(value);
  for (const name of namespaces ?? []) {
    for (const complaint of dnsLabel(name)) found.push(invalid('namespace', name, complaint));
  }
  if (!topologyKey) found.push(required('topologyKey', 'can not be empty'));
  for (const complaint of qualifiedName(topologyKey)) found.push(invalid('topologyKey', topologyKey, complaint));
  return found;
}

const PodAffinityTerm = s.object('PodAffinityTerm', podAffinityTerm, { rules: [term] });

const WeightedPodAffinityTerm = s.object('WeightedPodAffinityTerm', {
  weight,
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
