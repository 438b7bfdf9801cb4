import { age, type Column, NONE, name, text, UNKNOWN, UNSET } from '../../columns/column.ts';
import { longList } from '../../columns/long-list.ts';

export const horizontalPodAutoscalerColumns: readonly Column[] = [
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

function targetsText({ spec, status }: any): string {
  const metrics: readonly any[] = spec?.metrics ?? [];
  const found: readonly any[] = status?.currentMetrics ?? [];
  if (metrics.length === 0) return NONE;
  const texts = metrics.map((metric, index) => metricText(metric, found[index]));
  return longList(texts, { shown: 2, separator: ', ' });
}

function metricText(metric: any, found: any): string {
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
function valueText(source: any, current: any): string {
  const { averageValue, value = 0 } = source?.target ?? {};
  return averageValue === undefined
    ? `${current?.value ?? UNKNOWN}/${value}`
    : `${current?.averageValue ?? UNKNOWN}/${averageValue} (avg)`;
}

function resourceText(source: any, current: any): string {
  const { averageValue, averageUtilization } = source?.target ?? {};
  const head = `${source?.name ?? ''}: `;
  if (averageValue !== undefined) return `${head}${current?.averageValue ?? UNKNOWN}/${averageValue}`;
  return `${head}${percent(current?.averageUtilization, UNKNOWN)}/${percent(averageUtilization, '<auto>')}`;
}

function percent(value: number | undefined, absent: string): string {
  return value === undefined ? absent : `${value}%`;
}
