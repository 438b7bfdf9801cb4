/** Affinity of pods to nodes, and affinity and anti-affinity to other pods. */
import { s } from '../../../../schema/builders.ts';
import { type FieldError, invalid, required } from '../../../../schema/field-error.ts';
import { dnsLabel, qualifiedName } from '../../../../schema/names.ts';
import type { ObjectType, TypeOf } from '../../../../schema/schema.ts';
import { labelKeys } from '../../meta/label-keys.ts';
import { LabelSelector } from '../../meta/label-selector.ts';
import { NodeSelector, PreferredNodeSelectorTerm } from './node-selector.ts';

const weight = s.int32('Weight of the term relative to the others, from 1 to 100.', {
  zero: true,
  rules: [(value: number) => (value < 1 || value > 100 ? invalid('', value, 'must be in the range 1-100') : undefined)],
});

const PreferredSchedulingTerm = s.object('PreferredSchedulingTerm', 'A preference for nodes, with its weight.', {
  weight,
  preference: s.use(PreferredNodeSelectorTerm, 'Nodes that are preferred. An empty term has no effect.', {
    zero: true,
  }),
});

const NodeAffinity = s.object('NodeAffinity', 'Requirements and preferences for the nodes that a pod can run on.', {
  requiredDuringSchedulingIgnoredDuringExecution: s.use(
    NodeSelector,
    "Nodes that the pod may be scheduled to. Later changes of a node's labels do not evict it.",
  ),
  preferredDuringSchedulingIgnoredDuringExecution: s.list(
    PreferredSchedulingTerm,
    'Nodes that the scheduler prefers: for each node it adds up the weights of the terms that match.',
  ),
});
export type NodeAffinity = TypeOf<typeof NodeAffinity>;

const podAffinityTerm = {
  labelSelector: s.use(LabelSelector, 'Pods that the term is about, by label. If absent, it selects none.'),
  namespaces: s.list(
    s.string(),
    'Namespaces of those pods, in addition to those that namespaceSelector selects. If both are absent, the ' +
      'namespace of the pod itself.',
  ),
  topologyKey: s.string(
    'Node label that defines the topology domain: nodes with the same value of the label, such as ' +
      'kubernetes.io/hostname, belong together. Required.',
    { zero: true },
  ),
  namespaceSelector: s.use(
    LabelSelector,
    'Namespaces of those pods, by label. An empty selector selects all namespaces.',
  ),
  matchLabelKeys: s.list(
    s.string(),
    'Label keys whose values are taken from the incoming pod and added to labelSelector as "key in (value)". ' +
      'Cannot be set without labelSelector.',
  ),
  mismatchLabelKeys: s.list(
    s.string(),
    'Label keys whose values are taken from the incoming pod and added to labelSelector as "key notin ' +
      '(value)". Cannot be set without labelSelector.',
  ),
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

const PodAffinityTerm = s.object(
  'PodAffinityTerm',
  'Selects pods, and the topology domain (such as node or zone) within which they count.',
  podAffinityTerm,
  { rules: [term] },
);

const WeightedPodAffinityTerm = s.object(
  'WeightedPodAffinityTerm',
  'A preference on the placement near or away from other pods, with its weight.',
  {
    weight,
    podAffinityTerm: s.use(PodAffinityTerm, 'Pods and topology domain of the preference.', { zero: true }),
  },
);

const podTerms = {
  requiredDuringSchedulingIgnoredDuringExecution: s.list(
    PodAffinityTerm,
    'Terms that are enforced during scheduling; all of them must hold. Later changes of labels do not evict ' +
      'the pod.',
  ),
  preferredDuringSchedulingIgnoredDuringExecution: s.list(
    WeightedPodAffinityTerm,
    'Terms that the scheduler tries to fulfil, according to their weights.',
  ),
};

export const Affinity = s.object(
  'Affinity',
  'Scheduling constraints of a pod: which nodes it may use, and which pods it should be near to or away ' + 'from.',
  {
    nodeAffinity: s.use(NodeAffinity, 'Nodes that the pod requires or prefers.'),
    podAffinity: s.object(
      'PodAffinity',
      'Pods in whose topology domain, such as node or zone, the pod should run.',
      podTerms,
    ),
    podAntiAffinity: s.object(
      'PodAntiAffinity',
      'Pods whose topology domain, such as node or zone, the pod should avoid.',
      podTerms,
    ),
  },
);
export type Affinity = TypeOf<typeof Affinity>;
