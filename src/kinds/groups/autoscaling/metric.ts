/** Schemas of metrics: targets in a spec, and current values in a status. Their validation is in metric-rules.ts. */
import { s } from '../../../schema/builders.ts';
import type { Fields, TypeOf } from '../../../schema/schema.ts';
import { CrossVersionObjectReference } from './cross-version-reference.ts';

/** A label selector without validation: it is interpreted by the metrics API. */
export const MetricSelector = s.object(
  'LabelSelector',
  {
    matchLabels: s.map(s.string(), { description: 'Label values that a time series must have, all of them.' }),
    matchExpressions: s.list(
      s.object(
        'LabelSelectorRequirement',
        {
          key: s.string({ zero: true, description: 'Label to compare.' }),
          operator: s.string({
            zero: true,
            description: "How the label's value relates to values: In, NotIn, Exists or DoesNotExist.",
          }),
          values: s.list(s.string(), {
            description: 'Values to compare with. Needed for In and NotIn; must be empty for Exists and DoesNotExist.',
          }),
        },
        { description: 'One requirement on the value of a label.' },
      ),
      { description: 'Further requirements on labels, all of which must hold.' },
    ),
  },
  {
    atomic: true,
    description:
      'Narrows the metric to time series with these labels. It is passed to the metrics server as it is. Without it only the name counts.',
  },
);

const MetricIdentifier = s.object(
  'MetricIdentifier',
  {
    name: s.string({ zero: true, description: 'Name of the metric, as the metrics server knows it.' }),
    selector: MetricSelector,
  },
  { description: 'Identifies a metric by its name and, optionally, by labels.' },
);

const MetricTarget = s.object(
  'MetricTarget',
  {
    type: s.string({
      zero: true,
      description:
        'Which field holds the target: `Value` (value), `AverageValue` (averageValue) or `Utilization` (averageUtilization). Utilization is possible for resource metrics only.',
    }),
    value: s.quantity({ description: 'Target for the metric as a whole, as a quantity. Must be positive.' }),
    averageValue: s.quantity({
      description: 'Target for the metric divided by the number of pods, as a quantity. Must be positive.',
    }),
    averageUtilization: s.int32({
      description:
        'Target for the average usage across all pods, as a percentage of the resource they request. Must be at least 1; for Resource and ContainerResource metrics only.',
    }),
  },
  { description: 'A target for a metric. The field named by type is set.' },
);
export type MetricTarget = TypeOf<typeof MetricTarget>;

const MetricValueStatus = s.object(
  'MetricValueStatus',
  {
    value: s.quantity({ description: 'Current value of the metric as a whole.' }),
    averageValue: s.quantity({ description: 'Current value of the metric divided by the number of pods.' }),
    averageUtilization: s.int32({
      description:
        'Current average usage across all pods, as a percentage of the resource they request. For Resource and ContainerResource metrics only.',
    }),
  },
  { description: 'The value of a metric, in the same forms as its target.' },
);

const target = s.use(MetricTarget, { zero: true, description: 'Value of the metric to aim for.' });
const current = s.use(MetricValueStatus, { zero: true, description: 'Value of the metric when it was last read.' });
const metric = s.use(MetricIdentifier, { zero: true, description: 'The metric to read.' });
const describedObject = s.use(CrossVersionObjectReference, {
  zero: true,
  description: 'The object in the same namespace that the metric describes, such as an Ingress.',
});
const resourceName = s.string({ zero: true, description: 'Name of the resource, such as cpu or memory.' });
const container = s.string({ zero: true, description: 'Name of the container in each pod whose usage counts.' });

/** The five types of metrics, each with a target or a current value. */
function sources<F extends Fields>(suffix: 'Source' | 'Status', amount: F) {
  return {
    type: s.string({
      zero: true,
      description:
        'Kind of metric; the field of the same name must be set: `Object`, `Pods`, `Resource`, `ContainerResource` or `External`.',
    }),
    object: s.object(
      `ObjectMetric${suffix}`,
      { describedObject, ...amount, metric },
      {
        description:
          'A metric that describes another object of the namespace, such as the requests per second of an Ingress.',
      },
    ),
    pods: s.object(
      `PodsMetric${suffix}`,
      { metric, ...amount },
      {
        description:
          'A custom metric reported by each pod, averaged over all of them, such as transactions per second.',
      },
    ),
    resource: s.object(
      `ResourceMetric${suffix}`,
      { name: resourceName, ...amount },
      {
        description:
          'Usage of a resource such as CPU or memory, measured for whole pods. Utilization is relative to their requests.',
      },
    ),
    containerResource: s.object(
      `ContainerResourceMetric${suffix}`,
      { name: resourceName, ...amount, container },
      {
        description:
          'Usage of a resource such as CPU or memory, measured for one container of each pod. Useful when sidecars would distort the figure.',
      },
    ),
    external: s.object(
      `ExternalMetric${suffix}`,
      { metric, ...amount },
      {
        description: 'A metric from outside the cluster, such as the length of a queue in a cloud service.',
      },
    ),
  };
}

export const MetricSpec = s.object('MetricSpec', sources('Source', { target }), {
  description: 'One metric to scale by, with its target. Exactly one source is set, the one named by type.',
});
export type MetricSpec = TypeOf<typeof MetricSpec>;

export const MetricStatus = s.object('MetricStatus', sources('Status', { current }), {
  description: 'One metric with the value that was last read. The source named by type is set.',
});
export type MetricStatus = TypeOf<typeof MetricStatus>;

/** Default target for CPU utilization, in percent of the requests. */
export const DEFAULT_CPU_UTILIZATION_PERCENT = 80;

/** The metric that autoscaling/v1 has a field for. */
export const cpuUtilization = (averageUtilization: number): MetricSpec => ({
  type: 'Resource',
  resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization } },
});
