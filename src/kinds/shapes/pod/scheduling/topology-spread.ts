/** Constraints that spread matching pods evenly over topology domains. */
import { s } from '../../../../schema/builders.ts';
import { duplicate, type FieldError, invalid, notSupported, required } from '../../../../schema/field-error.ts';
import type { ObjectType } from '../../../../schema/schema.ts';
import { labelKeys } from '../../meta/label-keys.ts';
import { LabelSelector } from '../../meta/label-selector.ts';

const actions = ['DoNotSchedule', 'ScheduleAnyway'];

const constraint = {
  maxSkew: s.int32(
    'Maximum difference between the number of matching pods in a domain and the lowest number in any ' +
      'eligible domain. At least 1.',
    { zero: true },
  ),
  topologyKey: s.string(
    'Node label whose values are the topology domains, such as topology.kubernetes.io/zone. Nodes without it ' +
      'are not eligible.',
    { zero: true },
  ),
  whenUnsatisfiable: s.string(
    'What happens if no node meets the constraint: DoNotSchedule leaves the pod pending, ScheduleAnyway only ' +
      'prefers nodes with lower skew.',
    { zero: true },
  ),
  labelSelector: s.use(LabelSelector, 'Pods that are counted, by label, in the namespace of the pod.'),
  minDomains: s.int32(
    'Minimum number of eligible domains. While there are fewer, the lowest count is taken as 0. Only allowed ' +
      'with DoNotSchedule. Defaults to 1.',
  ),
  nodeAffinityPolicy: s.enum(
    ['Honor', 'Ignore'],
    "Whether only nodes that match the pod's node selector and node affinity count (Honor) or all nodes " +
      '(Ignore). Defaults to Honor.',
  ),
  nodeTaintsPolicy: s.enum(
    ['Honor', 'Ignore'],
    'Whether only nodes whose taints the pod tolerates count (Honor) or taints are disregarded (Ignore). ' +
      'Defaults to Ignore.',
  ),
  matchLabelKeys: s.list(
    s.string(),
    'Label keys whose values are taken from the incoming pod and added to labelSelector, such as ' +
      'pod-template-hash to count only pods of the same revision. Cannot be set without labelSelector.',
  ),
};
type TopologySpreadConstraint = ObjectType<typeof constraint>;

const TopologySpreadConstraint = s.object(
  'TopologySpreadConstraint',
  'Limits how unevenly matching pods are distributed over topology domains such as zones or nodes.',
  constraint,
  { rules: [spread] },
);

export const TopologySpreadConstraints = s.listMap(
  TopologySpreadConstraint,
  'Constraints on the distribution of the pods over topology domains. The scheduler meets all of them.',
  { keys: ['topologyKey', 'whenUnsatisfiable'], rules: [notRepeated] },
);

function spread(value: TopologySpreadConstraint): FieldError[] {
  const { maxSkew, topologyKey, whenUnsatisfiable, minDomains } = value;
  const found: FieldError[] = [];
  if (maxSkew <= 0) found.push(invalid('maxSkew', maxSkew, 'must be greater than zero'));
  if (!topologyKey) found.push(required('topologyKey', 'can not be empty'));
  if (!actions.includes(whenUnsatisfiable)) {
    found.push(notSupported('whenUnsatisfiable', whenUnsatisfiable, actions));
  }
  if (minDomains !== undefined) {
    if (minDomains <= 0) found.push(invalid('minDomains', minDomains, 'must be greater than zero'));
    if (whenUnsatisfiable !== 'DoNotSchedule') {
      const detail = `can only use minDomains if whenUnsatisfiable=DoNotSchedule, not ${whenUnsatisfiable}`;
      found.push(invalid('minDomains', minDomains, detail));
    }
  }
  return [...found, ...labelKeys(value)];
}

function notRepeated(constraints: readonly TopologySpreadConstraint[]): FieldError[] {
  const identities = constraints.map(({ topologyKey, whenUnsatisfiable }) => `{${topologyKey}, ${whenUnsatisfiable}}`);
  const last = new Map(identities.map((identity, index) => [identity, index]));
  return identities.flatMap((identity, index) =>
    index < last.get(identity)! ? [duplicate(`[${index}].{topologyKey, whenUnsatisfiable}`, identity)] : [],
  );
}
