import { s } from '../../../schema/builders.ts';
import type { FieldError } from '../../../schema/field-error.ts';
import { invalid, required } from '../../../schema/field-error.ts';
import type { Rule } from '../../../schema/schema.ts';
import { defineKind, type ObjectOf } from '../../kind.ts';
import { ScaleTarget } from './cross-version-reference.ts';
import { horizontalPodAutoscalerColumns } from './horizontal-pod-autoscaler-columns.ts';
import { HorizontalPodAutoscalerCondition, older, withoutReserved } from './horizontal-pod-autoscaler-v1.ts';
import { cpuUtilization, DEFAULT_UTILIZATION, MetricSpec, MetricStatus } from './metric.ts';
import { metricRules } from './metric-rules.ts';
import { HorizontalPodAutoscalerBehavior } from './scaling-behavior.ts';

/** Zero was allowed once; who has it may keep it. */
const atLeastOne: Rule<number> = (count, { old }) =>
  count >= 1 || (count === 0 && old === 0) ? undefined : invalid('', count, 'must be greater than or equal to 1');

/** Sets the size of a workload by how busy its pods are. */
export const HorizontalPodAutoscaler = defineKind({
  group: 'autoscaling',
  kind: 'HorizontalPodAutoscaler',
  plural: 'horizontalpodautoscalers',
  short: ['hpa'],
  categories: ['all'],
  scope: 'Namespaced',
  description: 'Sets the number of pods of another object, so that each is about as busy as wanted.',
  versions: { 'autoscaling/v2': {}, 'autoscaling/v1': older },
  fields: {
    spec: s.object(
      'HorizontalPodAutoscalerSpec',
      {
        scaleTargetRef: ScaleTarget,
        minReplicas: s.int32({ default: 1, rules: [atLeastOne], description: 'How few pods there may be.' }),
        maxReplicas: s.int32({ zero: true, description: 'How many pods there may be.' }),
        metrics: s.list(MetricSpec, {
          default: [cpuUtilization(DEFAULT_UTILIZATION)],
          rules: [metricRules],
          description:
            'What is looked at. The one that asks for most pods decides; where nothing is said, pods should use 80 % of their CPU.',
        }),
        behavior: HorizontalPodAutoscalerBehavior,
      },
      { zero: true, rules: [maxFitsMin], description: 'What is scaled, and by what.' },
    ),
    status: s.object(
      'HorizontalPodAutoscalerStatus',
      {
        observedGeneration: s.int64({ description: 'The generation that the rest speaks of.' }),
        lastScaleTime: s.time({ description: 'When the number of pods was last changed.' }),
        currentReplicas: s.int32({ min: 0, omitZero: true, description: 'How many pods there are.' }),
        desiredReplicas: s.int32({
          min: 0,
          zero: true,
          description: 'How many there should be by the last reckoning.',
        }),
        currentMetrics: s.list(MetricStatus, { description: 'What was found when the metrics were last looked at.' }),
        conditions: s.listMap(HorizontalPodAutoscalerCondition, {
          keys: ['type'],
          description: 'What holds for the autoscaler: AbleToScale, ScalingActive, ScalingLimited.',
        }),
      },
      { default: {}, description: 'What was found and done.' },
    ),
  },
  subresources: { status: true },
  initialStatus: () => ({ desiredReplicas: 0 }),
  onCreate: withoutReserved,
  onUpdate: withoutReserved,
  onStatusUpdate: withoutReserved,
  columns: horizontalPodAutoscalerColumns,
});
export type HorizontalPodAutoscaler = ObjectOf<typeof HorizontalPodAutoscaler>;

function maxFitsMin({ minReplicas, maxReplicas }: any): FieldError[] {
  const found: FieldError[] = [];
  if (maxReplicas === 0) found.push(required('maxReplicas', 'must be set and greater than 0'));
  if (maxReplicas < 0) found.push(invalid('maxReplicas', maxReplicas, 'must be greater than or equal to 1'));
  if (maxReplicas < minReplicas) {
    found.push(invalid('maxReplicas', maxReplicas, 'must be greater than or equal to `minReplicas`'));
  }
  return found;
}
