import { age, type ColumnList, NONE, name, type Sparse, UNKNOWN, UNSET } from '../../columns/column.ts';
import { longList } from '../../columns/long-list.ts';
import type { KubeObject } from '../../kind.ts';
import type { CrossVersionObjectReference } from './cross-version-reference.ts';
import type { MetricSpec, MetricStatus } from './metric.ts';

/** Fields that the columns read. */
interface Autoscaler extends KubeObject {
  spec: {
    scaleTargetRef: CrossVersionObjectReference;
    minReplicas: number;
    maxReplicas: number;
    metrics: readonly MetricSpec[];
  };
  status: { currentReplicas?: number; currentMetrics?: readonly MetricStatus[] };
}

export const horizontalPodAutoscalerColumns: ColumnList<Autoscaler> = ({ text }) => [
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
];

function targetsText({ spec, status }: Sparse<Autoscaler>): string {
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

interface Value {
  value?: string;
  averageValue?: string;
  averageUtilization?: number;
}

type Source = Sparse<{ name?: string; target: Value }>;

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
