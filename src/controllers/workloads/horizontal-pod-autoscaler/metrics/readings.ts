/** Reads the metrics of an autoscaler, before the plan. */
import { isApiError } from '../../../../api/errors.ts';
import type { DeepReadonly } from '../../../../api/object-types.ts';
import type { Client } from '../../../../client/client.ts';
import type { MetricSpec } from '../../../../kinds/groups/autoscaling/metric.ts';
import { PodMetrics } from '../../../../kinds/groups/metrics/pod-metrics.ts';
import { type Sample, type Samples, samplesOf, thousandths } from './samples.ts';

export type SeenMetric = DeepReadonly<MetricSpec>;

/** The values of one metric: for each pod, or one for all, or why it could not be read. */
export type Reading =
  | { readonly type: 'pods'; readonly samples: Samples }
  | { readonly type: 'total'; readonly value: bigint }
  | { readonly type: 'problem'; readonly why: string };

type Metric = NonNullable<SeenMetric['pods']>['metric'];
type DescribedObject = NonNullable<SeenMetric['object']>['describedObject'];

/** Sources of custom and external metrics. Rejects with the source's error. */
export interface MetricSources {
  /** Reads a metric of each pod that the selector matches. */
  ofPods(
    metric: Metric,
    where: { readonly namespace: string; readonly selector: string },
  ): Promise<readonly PodValue[]>;
  ofObject(metric: Metric, where: { readonly namespace: string; readonly object: DescribedObject }): Promise<string>;
  /** Reads values from outside the cluster; several values are added up. */
  external(metric: Metric, where: { readonly namespace: string }): Promise<readonly string[]>;
}

/** Times in milliseconds. */
interface PodValue extends Omit<Sample, 'value'> {
  readonly pod: string;
  /** A quantity. */
  readonly value: string;
}

const noCustomMetrics = async () => {
  throw new Error('no custom metrics API (custom.metrics.k8s.io) registered');
};

/** Sources that provide no metrics. */
export const NO_SOURCES: MetricSources = {
  ofPods: noCustomMetrics,
  ofObject: noCustomMetrics,
  async external({ name }) {
    throw new Error(`the server could not find the requested resource (get ${name}.external.metrics.k8s.io)`);
  },
};

export interface Look {
  readonly client: Client;
  readonly signal: AbortSignal;
  readonly sources: MetricSources;
  readonly namespace: string;
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
      const { resource, containerResource, pods, object, external } = metric;
      if (metric.type === 'Resource' && resource) return usage(resource.name);
      if (metric.type === 'ContainerResource' && containerResource) {
        return usage(containerResource.name, containerResource.container);
      }
      if (metric.type === 'Pods' && pods) return fromElsewhere('custom', look, (to) => podValues(pods.metric, to));
      if (metric.type === 'Object' && object) return fromElsewhere('custom', look, (to) => objectValue(object, to));
      if (metric.type === 'External' && external) {
        return fromElsewhere('external', look, (to) => externalValue(external.metric, to));
      }
      return problem(`unknown metric source type ${JSON.stringify(metric.type)}`);
    }),
  );
}

/** Returns the measurements, or the error. */
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

async function podValues(metric: Metric, { sources, namespace, selector }: Look): Promise<Reading | undefined> {
  const values = await sources.ofPods(metric, { namespace, selector });
  if (values.length === 0) return undefined;
  return {
    type: 'pods',
    samples: new Map(values.map(({ pod, value, ...at }) => [pod, { ...at, value: thousandths(value) }])),
  };
}

async function objectValue(
  { metric, describedObject: object }: NonNullable<SeenMetric['object']>,
  { sources, namespace }: Look,
): Promise<Reading> {
  return { type: 'total', value: thousandths(await sources.ofObject(metric, { namespace, object })) };
}

async function externalValue(metric: Metric, { sources, namespace }: Look): Promise<Reading | undefined> {
  const values = await sources.external(metric, { namespace });
  if (values.length === 0) return undefined;
  return { type: 'total', value: values.reduce((sum, value) => sum + thousandths(value), 0n) };
}

const problem = (why: string): Reading => ({ type: 'problem', why });
