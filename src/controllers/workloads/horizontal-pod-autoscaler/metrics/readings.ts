/** Reads the metrics of an autoscaler, before the plan. */
import { isApiError } from '../../../../api/errors.ts';
import type { DeepReadonly } from '../../../../api/object-types.ts';
import type { MetricSpec } from '../../../../kinds/groups/autoscaling/metric.ts';
import { PodMetrics } from '../../../../kinds/groups/metrics/pod-metrics.ts';
import { type Adapters, customOfObject, customOfPods, external } from './adapters.ts';
import { type Samples, samplesOf } from './samples.ts';

export type SeenMetric = DeepReadonly<MetricSpec>;

type Metric = NonNullable<SeenMetric['pods']>['metric'];

/** The values of one metric: for each pod, or one for all, or why it could not be read. */
export type Reading =
  | { readonly type: 'pods'; readonly samples: Samples }
  | { readonly type: 'total'; readonly value: bigint }
  | { readonly type: 'problem'; readonly why: string };

export interface Look extends Adapters {
  /** Selector of the target's pods. */
  readonly selector: string;
}

/** Returns readings in the order of the metrics. Resource metrics are read once. */
export async function readMetrics(metrics: readonly SeenMetric[], look: Look): Promise<readonly Reading[]> {
  let measured: ReturnType<typeof measure> | undefined;
  const usage = async (resource: string, container?: string): Promise<Reading> => {
    measured ??= measure(look);
    const found = await measured;
    return typeof found === 'string'
      ? problem(found)
      : { type: 'pods', samples: samplesOf(found, resource, container) };
  };
  return Promise.all(
    metrics.map(async (metric): Promise<Reading> => {
      const { resource, containerResource, pods, object, external: outside } = metric;
      if (metric.type === 'Resource' && resource) return usage(resource.name);
      if (metric.type === 'ContainerResource' && containerResource) {
        return usage(containerResource.name, containerResource.container);
      }
      if (metric.type === 'Pods' && pods) return fromElsewhere('custom', look, (to) => podValues(pods.metric, to));
      if (metric.type === 'Object' && object)
        return fromElsewhere('custom', look, async (to) => ({
          type: 'total',
          value: await customOfObject(object, to),
        }));
      if (metric.type === 'External' && outside) {
        return fromElsewhere('external', look, (to) => externalValue(outside.metric, to));
      }
      return problem(`unknown metric source type ${JSON.stringify(metric.type)}`);
    }),
  );
}

async function measure({ client, signal, namespace, selector }: Look) {
  try {
    const { items } = await client.of(PodMetrics).in(namespace).list({ labelSelector: selector, signal });
    return items.length > 0 ? items : 'no metrics returned from resource metrics API';
  } catch (error) {
    if (signal.aborted || !isApiError(error)) throw error;
    return `unable to fetch metrics from resource metrics API: ${error.message}`;
  }
}

async function fromElsewhere(
  api: 'custom' | 'external',
  look: Look,
  read: (look: Look) => Promise<Reading | undefined>,
): Promise<Reading> {
  try {
    return (await read(look)) ?? problem(`no metrics returned from ${api} metrics API`);
  } catch (error) {
    look.signal.throwIfAborted();
    return problem(`unable to fetch metrics from ${api} metrics API: ${(error as Error).message}`);
  }
}

async function podValues(metric: Metric, look: Look): Promise<Reading | undefined> {
  const samples = await customOfPods(metric, look.selector, look);
  return samples.size > 0 ? { type: 'pods', samples } : undefined;
}

async function externalValue(metric: Metric, look: Look): Promise<Reading | undefined> {
  const values = await external(metric, look);
  return values.length > 0 ? { type: 'total', value: values.reduce((sum, value) => sum + value, 0n) } : undefined;
}

const problem = (why: string): Reading => ({ type: 'problem', why });
