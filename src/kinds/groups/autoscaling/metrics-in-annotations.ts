/**
 * Stores a list of metrics as autoscaling/v1 does: the CPU utilization in a field, the others in an annotation. If that
 * loses information, a second annotation holds the full list.
 */
import { deepEqual } from '../../../base/json/tree.ts';
import { parseList } from './annotation-json.ts';
import { cpuUtilization, type MetricSpec, type MetricStatus } from './metric.ts';
import { type MetricForm, specForm, statusForm, toNewer, toOlder } from './metric-v1.ts';

export type Annotations = Readonly<Record<string, string>>;

/** The field and the annotations of autoscaling/v1. */
export interface EncodedMetrics {
  readonly cpu: number | undefined;
  readonly annotations: Annotations;
}

/** Divides a list of metrics between field and annotation, and puts it together again. */
interface MetricEncoding<T> {
  readonly form: MetricForm<T>;
  readonly key: string;
  readonly fullKey: string;
  readonly divide: (metrics: readonly T[]) => { readonly cpu: number | undefined; readonly others: readonly T[] };
  readonly join: (cpu: number | undefined, others: readonly T[] | undefined) => readonly T[];
}

/** The metrics of a spec. */
export const specMetrics: MetricEncoding<MetricSpec> = {
  form: specForm,
  key: 'autoscaling.alpha.kubernetes.io/metrics',
  fullKey: 'autoscaling.alpha.kubernetes.io/v2-metrics',
  divide(metrics) {
    const cpu = metrics.find(isCpuUtilization)?.resource?.target.averageUtilization;
    return { cpu, others: metrics.filter((metric) => !isCpuUtilization(metric)) };
  },
  join: (cpu, others = []) => (cpu === undefined ? others : [...others, cpuUtilization(cpu)]),
};

function isCpuUtilization({ type, resource }: MetricSpec): boolean {
  return type === 'Resource' && resource?.name === 'cpu' && resource.target.averageUtilization !== undefined;
}

/** The metrics of a status. The list repeats CPU utilization, because the field holds only one of its values. */
export const statusMetrics: MetricEncoding<MetricStatus> = {
  form: statusForm,
  key: 'autoscaling.alpha.kubernetes.io/current-metrics',
  fullKey: 'autoscaling.alpha.kubernetes.io/v2-current-metrics',
  divide(metrics) {
    const used = metrics.findLast(
      ({ type, resource }) =>
        type === 'Resource' && resource?.name === 'cpu' && resource.current.averageUtilization !== undefined,
    );
    const cpu = used?.resource?.current.averageUtilization;
    return { cpu, others: deepEqual(metrics, cpuStatus(cpu)) ? [] : metrics };
  },
  join: (cpu, others) => others ?? cpuStatus(cpu),
};

function cpuStatus(averageUtilization: number | undefined): MetricStatus[] {
  if (averageUtilization === undefined) return [];
  return [{ type: 'Resource', resource: { name: 'cpu', current: { averageUtilization } } }];
}

export function encodeMetrics<T>(encoding: MetricEncoding<T>, metrics: readonly T[]): EncodedMetrics {
  const encoded = encode(encoding, metrics);
  if (deepEqual(decode(encoding, encoded), metrics)) return encoded;
  return { ...encoded, annotations: { ...encoded.annotations, [encoding.fullKey]: JSON.stringify(metrics) } };
}

/** The full list, unless field or annotation have changed since it was written. */
export function decodeMetrics<T>(encoding: MetricEncoding<T>, encoded: EncodedMetrics): readonly T[] {
  const { form, key, fullKey } = encoding;
  const full = parseList(form.newer, encoded.annotations[fullKey]);
  if (full) {
    const { cpu, annotations } = encode(encoding, full);
    if (cpu === encoded.cpu && annotations[key] === encoded.annotations[key]) return full;
  }
  return decode(encoding, encoded);
}

function encode<T>({ form, key, divide }: MetricEncoding<T>, metrics: readonly T[]): EncodedMetrics {
  const { cpu, others } = divide(metrics);
  const list = others.map((metric) => toOlder(form, metric));
  return { cpu, annotations: list.length ? { [key]: JSON.stringify(list) } : {} };
}

function decode<T>({ form, key, join }: MetricEncoding<T>, { cpu, annotations }: EncodedMetrics): readonly T[] {
  const others = parseList(form.older, annotations[key]);
  const newer = others?.map((metric) => toNewer(form, metric));
  return join(cpu, newer);
}
