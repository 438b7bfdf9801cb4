/** Keeps pods that a selector finds evenly spread over the values of a node label. */
import { s } from '../../../schema/builders.ts';
import { duplicate, type FieldError, invalid, notSupported, required } from '../../../schema/field-error.ts';
import type { ObjectType } from '../../../schema/schema.ts';
import { labelKeys } from '../meta/label-keys.ts';
import { LabelSelector } from '../meta/label-selector.ts';

const actions = ['DoNotSchedule', 'ScheduleAnyway'];

const constraint = {
  maxSkew: s.int32({ zero: true }),
  topologyKey: s.string({ zero: true }),
  whenUnsatisfiable: s.string({ zero: true }),
  labelSelector: LabelSelector,
  minDomains: s.int32(),
  nodeAffinityPolicy: s.enum(['Honor', 'Ignore']),
  nodeTaintsPolicy: s.enum(['Honor', 'Ignore']),
  matchLabelKeys: s.list(s.string()),
};
type TopologySpreadConstraint = ObjectType<typeof constraint>;

const TopologySpreadConstraint = s.object('TopologySpreadConstraint', constraint, { rules: [spread] });

export const TopologySpreadConstraints = s.listMap(TopologySpreadConstraint, {
  keys: ['topologyKey', 'whenUnsatisfiable'],
  rules: [notRepeated],
});

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
  found.push(...labelKeys(value));
  return found;
}

function notRepeated(constraints: readonly TopologySpreadConstraint[]): FieldError[] {
  return constraints.flatMap(({ topologyKey, whenUnsatisfiable }, index) =>
    constraints
      .slice(index + 1)
      .some((other) => other.topologyKey === topologyKey && other.whenUnsatisfiable === whenUnsatisfiable)
      ? [duplicate(`[${index}].{topologyKey, whenUnsatisfiable}`, `{${topologyKey}, ${whenUnsatisfiable}}`)]
      : [],
  );
}
