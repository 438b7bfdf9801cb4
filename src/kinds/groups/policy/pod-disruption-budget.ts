import { s } from '../../../schema/builders.ts';
import { type FieldError, invalid } from '../../../schema/field-error.ts';
import { pathSegmentName } from '../../../schema/names.ts';
import type { ObjectType, RuleContext } from '../../../schema/schema.ts';
import { age, name } from '../../columns/column.ts';
import { defineKind, type ObjectOf } from '../../kind.ts';
import { Condition, completeConditions } from '../../shapes/meta/condition.ts';
import { countOrPercent, notMoreThanAll } from '../../shapes/meta/int-or-percent.ts';
import { LabelSelector } from '../../shapes/meta/label-selector.ts';
import { dropMarker, selectorToV1, selectorToV1beta1 } from './empty-selector.ts';

const V1BETA1 = 'policy/v1beta1';

const amount = (description: string) => s.intOrString(description, { rules: [countOrPercent, notMoreThanAll] });

const spec = {
  minAvailable: amount(
    'Number of selected pods that must still be available after an eviction, as a count or as a percentage of all selected pods. Cannot be combined with maxUnavailable.',
  ),
  selector: s.use(
    LabelSelector,
    'Label selector for the pods the budget protects, in its own namespace. An empty selector matches all pods; without one, none.',
    { replace: true },
  ),
  maxUnavailable: amount(
    'Number of selected pods that may be unavailable after an eviction, as a count or as a percentage of all selected pods. Cannot be combined with minAvailable.',
  ),
  unhealthyPodEvictionPolicy: s.enum(
    ['AlwaysAllow', 'IfHealthyBudget'],
    'When running pods that are not ready may be evicted: `IfHealthyBudget` only while enough other pods are ready, `AlwaysAllow` at any time. Defaults to IfHealthyBudget.',
  ),
};

/** Count that must not be negative, which policy/v1beta1 does not check. */
const count = (description: string) => s.int32(description, { default: 0, rules: [notNegative] });

const status = {
  observedGeneration: s.int64(
    'The metadata.generation that this status was computed from. Evictions are rejected while it is out of date.',
    { omitZero: true },
  ),
  disruptedPods: s.map(
    s.time(),
    'Pods whose eviction was granted but which are not yet seen as deleted, with the time of the eviction. An entry that does not lead to a deletion is dropped after a while.',
  ),
  disruptionsAllowed: count('Number of pods that may be evicted right now.'),
  currentHealthy: count('Number of selected pods that are ready.'),
  desiredHealthy: count('Number of selected pods that must stay ready.'),
  expectedPods: count('Number of pods that the budget is computed from.'),
  conditions: s.listMap(
    Condition,
    'Latest observations of the state of the budget. DisruptionAllowed is True while at least one eviction is allowed.',
    { keys: ['type'], rules: [completeConditions] },
  ),
};

/** Limits voluntary disruptions of a set of pods. */
export const PodDisruptionBudget = defineKind({
  kind: 'PodDisruptionBudget',
  short: ['pdb'],
  scope: 'Namespaced',
  description:
    'Limits how many pods of an application may be down at the same time because of voluntary disruptions, such as draining a node. Evictions that would exceed the limit are rejected.',
  versions: {
    'policy/v1': {},
    [V1BETA1]: {
      fields: {
        spec: s.struct(
          'PodDisruptionBudgetSpec',
          'Which pods the budget protects, and how many of them must stay available.',
          {
            ...spec,
            selector: s.use(
              LabelSelector,
              'Label selector for the pods the budget protects, in its own namespace. In this version an empty selector matches no pods.',
            ),
          },
        ),
      },
      toHub: selectorToV1,
      fromHub: selectorToV1beta1,
    },
  },
  fields: {
    spec: s.struct(
      'PodDisruptionBudgetSpec',
      'Which pods the budget protects, and how many of them must stay available.',
      spec,
      { rules: [minOrMax] },
    ),
    status: s.struct(
      'PodDisruptionBudgetStatus',
      'Most recently observed state of the budget, written by its controller.',
      status,
    ),
  },
  requiresVersion: true,
  name: pathSegmentName,
  subresources: { status: true },
  generation: true,
  initialStatus: () => ({ disruptionsAllowed: 0, currentHealthy: 0, desiredHealthy: 0, expectedPods: 0 }),
  onCreate: dropMarker,
  onUpdate: dropMarker,
  columns: ({ text, integer }) => [
    name,
    text('Min Available', 'Number of pods that must stay available.', ({ spec }) =>
      String(spec?.minAvailable ?? 'N/A'),
    ),
    text('Max Unavailable', 'Number of pods that may be unavailable.', ({ spec }) =>
      String(spec?.maxUnavailable ?? 'N/A'),
    ),
    integer(
      'Allowed Disruptions',
      'Number of pods that may be evicted now.',
      ({ status }) => status?.disruptionsAllowed,
    ),
    age,
  ],
});
export type PodDisruptionBudget = ObjectOf<typeof PodDisruptionBudget>;

function notNegative(value: number, { apiVersion }: RuleContext): FieldError | undefined {
  return value < 0 && apiVersion !== V1BETA1 ? invalid('', value, 'must be greater than or equal to 0') : undefined;
}

function minOrMax(wanted: ObjectType<typeof spec>): FieldError | undefined {
  const { minAvailable, maxUnavailable } = wanted;
  return minAvailable !== undefined && maxUnavailable !== undefined
    ? invalid('', wanted, 'minAvailable and maxUnavailable cannot be both set')
    : undefined;
}
