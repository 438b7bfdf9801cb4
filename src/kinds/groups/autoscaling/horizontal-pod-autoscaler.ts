import { s } from '../../../schema/builders.ts';
import { type FieldError, invalid, required } from '../../../schema/field-error.ts';
import type { Rule } from '../../../schema/schema.ts';
import { age, NONE, name, type Sparse, UNKNOWN, UNSET } from '../../columns/column.ts';
import { longList } from '../../columns/long-list.ts';
import { defineKind, type ObjectOf } from '../../kind.ts';
import { ScaleTarget } from './cross-version-reference.ts';
import {
  autoscalingV1,
  dropReservedAnnotations,
  HorizontalPodAutoscalerCondition,
} from './horizontal-pod-autoscaler-v1.ts';
import { cpuUtilization, DEFAULT_CPU_UTILIZATION_PERCENT, MetricSpec, MetricStatus } from './metric.ts';
import { metricRules } from './metric-rules.ts';
import { HorizontalPodAutoscalerBehavior } from './scaling-behavior.ts';

interface Value {
  value?: string;
  averageValue?: string;
  averageUtilization?: number;
}

type Source = Sparse<{ name?: string; target: Value }>;

/** Zero is kept where it was stored: earlier versions of Kubernetes allowed it. */
const atLeastOne: Rule<number> = (count, { old }) =>
  count >= 1 || (count === 0 && old === 0) ? undefined : invalid('', count, 'must be greater than or equal to 1');

/** Scales a workload by metrics of its pods. */
export const HorizontalPodAutoscaler = defineKind({
  kind: 'HorizontalPodAutoscaler',
  short: ['hpa'],
  categories: ['all'],
  scope: 'Namespaced',
  description:
    'Adjusts the number of pods of a workload automatically, so that the metrics you choose (CPU usage by default) stay close to their targets.',
  versions: { 'autoscaling/v2': {}, 'autoscaling/v1': autoscalingV1 },
  fields: {
    spec: s.object(
      'HorizontalPodAutoscalerSpec',
      'Desired behavior of the autoscaler: what it scales, within which bounds, and by which metrics.',
      {
        scaleTargetRef: ScaleTarget,
        minReplicas: s.int32(
          'Lower bound for the number of pods. Defaults to 1, which is also the smallest value allowed.',
          { default: 1, rules: [atLeastOne] },
        ),
        maxReplicas: s.int32('Upper bound for the number of pods. Required; must not be less than minReplicas.', {
          zero: true,
        }),
        metrics: s.list(
          MetricSpec,
          'Metrics to scale by. A replica count is computed for each, and the highest one wins. Defaults to an average CPU usage of 80% of the requests.',
          { default: [cpuUtilization(DEFAULT_CPU_UTILIZATION_PERCENT)], rules: [metricRules] },
        ),
        behavior: HorizontalPodAutoscalerBehavior,
      },
      { zero: true, rules: [minAndMax] },
    ),
    status: s.struct(
      'HorizontalPodAutoscalerStatus',
      'Most recently observed state of the autoscaler, written by its controller.',
      {
        observedGeneration: s.int64('The metadata.generation that this status was computed from.'),
        lastScaleTime: s.time(
          'When the autoscaler last changed the number of pods. Limits how soon it may change it again.',
        ),
        currentReplicas: s.int32('Number of pods the scaled object had when the autoscaler last looked.', {
          min: 0,
          omitZero: true,
        }),
        desiredReplicas: s.int32('Number of pods the autoscaler last computed from the metrics.', {
          min: 0,
          zero: true,
        }),
        currentMetrics: s.list(
          MetricStatus,
          'Values of the metrics when the autoscaler last read them, in the order of spec.metrics.',
        ),
        conditions: s.listMap(
          HorizontalPodAutoscalerCondition,
          'Latest observations of the state of the autoscaler, at most one per type: AbleToScale, ScalingActive and ScalingLimited say whether it can scale, and why not.',
          { keys: ['type'] },
        ),
      },
    ),
  },
  subresources: { status: true },
  initialStatus: () => ({ desiredReplicas: 0 }),
  onCreate: dropReservedAnnotations,
  onUpdate: dropReservedAnnotations,
  onStatusUpdate: dropReservedAnnotations,
  columns: ({ text }) => [
    name,
    text('Reference', 'The scaled object.', ({ spec }) => {
      const { kind = '', name: target = '' } = spec?.scaleTargetRef ?? {};
      return `${kind}/${target}`;
    }),
    text('Targets', 'Current value and target of each metric.', targetsText),
    text('MinPods', 'Minimum number of pods.', ({ spec }) => String(spec?.minReplicas ?? UNSET)),
    text('MaxPods', 'Maximum number of pods.', ({ spec }) => spec?.maxReplicas ?? 0),
    text('Replicas', 'Current number of pods.', ({ status }) => status?.currentReplicas ?? 0),
    age,
  ],
});
export type HorizontalPodAutoscaler = ObjectOf<typeof HorizontalPodAutoscaler>;

function minAndMax({
  minReplicas,
  maxReplicas,
}: {
  readonly minReplicas: number;
  readonly maxReplicas: number;
}): FieldError[] {
  const found: FieldError[] = [];
  if (maxReplicas === 0) found.push(required('maxReplicas', 'must be set and greater than 0'));
  if (maxReplicas < 0) found.push(invalid('maxReplicas', maxReplicas, 'must be greater than or equal to 1'));
  if (maxReplicas < minReplicas) {
    found.push(invalid('maxReplicas', maxReplicas, 'must be greater than or equal to `minReplicas`'));
  }
  return found;
}

interface Measured {
  spec: { metrics: readonly MetricSpec[] };
  status: { currentMetrics?: readonly MetricStatus[] };
}

function targetsText({ spec, status }: Sparse<Measured>): string {
  const metrics = spec?.metrics ?? [];
  const found = status?.currentMetrics ?? [];
  if (metrics.length === 0) return NONE;
  const texts = metrics.map((metric, index) => metricText(metric, found[index]));
  return longList(texts, { shown: 2, separator: ', ' });
}

function metricText(metric: Sparse<MetricSpec>, found: Sparse<MetricStatus> | undefined): string {
  switch (metric.type) {
    case 'External':
      return valueText(metric.external, found?.external?.current);
    case 'Object':
      return valueText(metric.object, found?.object?.current);
    case 'Pods':
      return `${found?.pods?.current?.averageValue ?? UNKNOWN}/${metric.pods?.target?.averageValue ?? 0}`;
    case 'Resource':
      return resourceText(metric.resource, found?.resource?.current);
    case 'ContainerResource':
      return resourceText(metric.containerResource, found?.containerResource?.current);
    default:
      return '<unknown type>';
  }
}

/** A value for the metric as a whole, or its average per pod. */
function valueText(source: Source | undefined, current: Sparse<Value> | undefined): string {
  const { averageValue, value = 0 } = source?.target ?? {};
  return averageValue === undefined
    ? `${current?.value ?? UNKNOWN}/${value}`
    : `${current?.averageValue ?? UNKNOWN}/${averageValue} (avg)`;
}

function resourceText(source: Source | undefined, current: Sparse<Value> | undefined): string {
  const { averageValue, averageUtilization } = source?.target ?? {};
  const head = `${source?.name ?? ''}: `;
  if (averageValue !== undefined) return `${head}${current?.averageValue ?? UNKNOWN}/${averageValue}`;
  return `${head}${percent(current?.averageUtilization, UNKNOWN)}/${percent(averageUtilization, '<auto>')}`;
}

function percent(value: number | undefined, absent: string): string {
  return value === undefined ? absent : `${value}%`;
}
