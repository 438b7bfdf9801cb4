/**
 * A list of metrics as an object of autoscaling/v1 keeps it: one number in a field, for the use of the CPU, and a list
 * in an annotation. A second annotation holds the metrics as they are where those two would lose something.
 */
import { deepEqual } from '../../../base/tree.ts';
import { listIn } from './annotation-texts.ts';
import { cpuUtilization, type MetricSpec, type MetricStatus } from './metric.ts';
import { type MetricForm, specForm, statusForm, toNewer, toOlder } from './metric-v1.ts';

export type Annotations = Readonly<Record<string, string>>;

/** What stands in the field and in the annotations. */
export interface Kept {
  readonly cpu: number | undefined;
  readonly annotations: Annotations;
}

/** How the list is divided, and put together again. */
interface Division<T> {
  readonly form: MetricForm<T>;
  readonly key: string;
  readonly wholeKey: string;
  readonly divide: (metrics: readonly T[]) => { readonly cpu: number | undefined; readonly others: readonly T[] };
  readonly join: (cpu: number | undefined, others: readonly T[] | undefined) => readonly T[];
}

/** What an autoscaler wants to find. */
export const wantedMetrics: Division<MetricSpec> = {
  form: specForm,
  key: 'autoscaling.alpha.kubernetes.io/metrics',
  wholeKey: 'autoscaling.alpha.kubernetes.io/v2-metrics',
  divide(metrics) {
    const cpu = metrics.find(isCpuUtilization)?.resource?.target.averageUtilization;
    return { cpu, others: metrics.filter((metric) => !isCpuUtilization(metric)) };
  },
  join: (cpu, others = []) => (cpu === undefined ? others : [...others, cpuUtilization(cpu)]),
};

function isCpuUtilization({ type, resource }: MetricSpec): boolean {
  return type === 'Resource' && resource?.name === 'cpu' && resource.target.averageUtilization !== undefined;
}

/** What it found. The list repeats the use of the CPU, because it knows more of it than one number. */
export const foundMetrics: Division<MetricStatus> = {
  form: statusForm,
  key: 'autoscaling.alpha.kubernetes.io/current-metrics',
  wholeKey: 'autoscaling.alpha.kubernetes.io/v2-current-metrics',
  divide(metrics) {
    const used = metrics.findLast(
      ({ type, resource }) =>
        type === 'Resource' && resource?.name === 'cpu' && resource.current.averageUtilization !== undefined,
    );
    const cpu = used?.resource?.current.averageUtilization;
    return { cpu, others: deepEqual(metrics, cpuFound(cpu)) ? [] : metrics };
  },
  join: (cpu, others) => others ?? cpuFound(cpu),
};

function cpuFound(averageUtilization: number | undefined): MetricStatus[] {
  if (averageUtilization === undefined) return [];
  return [{ type: 'Resource', resource: { name: 'cpu', current: { averageUtilization } } }];
}

export function keep<T>(division: Division<T>, metrics: readonly T[]): Kept {
  const kept = divided(division, metrics);
  if (deepEqual(joined(division, kept), metrics)) return kept;
  return { ...kept, annotations: { ...kept.annotations, [division.wholeKey]: JSON.stringify(metrics) } };
}

/** The metrics as they were kept, or what has been made of them since. */
export function restore<T>(division: Division<T>, kept: Kept): readonly T[] {
  const { form, key, wholeKey } = division;
  const whole = listIn(form.newer, kept.annotations[wholeKey]);
  if (whole) {
    const { cpu, annotations } = divided(division, whole);
    if (cpu === kept.cpu && annotations[key] === kept.annotations[key]) return whole;
  }
  return joined(division, kept);
}

function divided<T>({ form, key, divide }: Division<T>, metrics: readonly T[]): Kept {
  const { cpu, others } = divide(metrics);
  const list = others.map((metric) => toOlder(form, metric));
  return { cpu, annotations: list.length ? { [key]: JSON.stringify(list) } : {} };
}

function joined<T>({ form, key, join }: Division<T>, { cpu, annotations }: Kept): readonly T[] {
  const others = listIn(form.older, annotations[key]);
  const newer = others?.map((metric) => toNewer(form, metric));
  return join(cpu, newer);
}
