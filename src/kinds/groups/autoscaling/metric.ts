/** Schemas of metrics: targets in a spec, and current values in a status. Their validation is in metric-rules.ts. */
import { s } from '../../../schema/builders.ts';
import type { Fields, TypeOf } from '../../../schema/schema.ts';
import { CrossVersionObjectReference } from './cross-version-reference.ts';

/** A label selector without validation: it is interpreted by the metrics API. */
export const MetricSelector = s.object(
  'LabelSelector',
  'Narrows the metric to time series with these labels. It is passed to the metrics server as it is. Without it only the name counts.',
  {
    matchLabels: s.map(s.string(), 'Label values that a time series must have, all of them.'),
    matchExpressions: s.list(
      s.object('LabelSelectorRequirement', 'One requirement on the value of a label.', {
        key: s.string('Label to compare.', { zero: true }),
        operator: s.string("How the label's value relates to values: In, NotIn, Exists or DoesNotExist.", {
          zero: true,
        }),
        values: s.list(
          s.string(),
          'Values to compare with. Needed for In and NotIn; must be empty for Exists and DoesNotExist.',
        ),
      }),
      'Further requirements on labels, all of which must hold.',
    ),
  },
  { atomic: true },
);

const MetricIdentifier = s.object('MetricIdentifier', 'Identifies a metric by its name and, optionally, by labels.', {
  name: s.string('Name of the metric, as the metrics server knows it.', { zero: true }),
  selector: MetricSelector,
});

const MetricTarget = s.object('MetricTarget', 'A target for a metric. The field named by type is set.', {
  type: s.string(
    'Which field holds the target: `Value` (value), `AverageValue` (averageValue) or `Utilization` (averageUtilization). Utilization is possible for resource metrics only.',
    { zero: true },
  ),
  value: s.quantity('Target for the metric as a whole, as a quantity. Must be positive.'),
  averageValue: s.quantity('Target for the metric divided by the number of pods, as a quantity. Must be positive.'),
  averageUtilization: s.int32(
    'Target for the average usage across all pods, as a percentage of the resource they request. Must be at least 1; for Resource and ContainerResource metrics only.',
  ),
});
export type MetricTarget = TypeOf<typeof MetricTarget>;

const MetricValueStatus = s.object('MetricValueStatus', 'The value of a metric, in the same forms as its target.', {
  value: s.quantity('Current value of the metric as a whole.'),
  averageValue: s.quantity('Current value of the metric divided by the number of pods.'),
  averageUtilization: s.int32(
    'Current average usage across all pods, as a percentage of the resource they request. For Resource and ContainerResource metrics only.',
  ),
});

const target = s.use(MetricTarget, 'Value of the metric to aim for.', { zero: true });
const current = s.use(MetricValueStatus, 'Value of the metric when it was last read.', { zero: true });
const metric = s.use(MetricIdentifier, 'The metric to read.', { zero: true });
const describedObject = s.use(
  CrossVersionObjectReference,
  'The object in the same namespace that the metric describes, such as an Ingress.',
  { zero: true },
);
const resourceName = s.string('Name of the resource, such as cpu or memory.', { zero: true });
const container = s.string('Name of the container in each pod whose usage counts.', { zero: true });

/** The five types of metrics, each with a target or a current value. */
function sources<F extends Fields>(suffix: 'Source' | 'Status', amount: F) {
  return {
    type: s.string(
      'Kind of metric; the field of the same name must be set: `Object`, `Pods`, `Resource`, `ContainerResource` or `External`.',
      { zero: true },
    ),
    object: s.object(
      `ObjectMetric${suffix}`,
      'A metric that describes another object of the namespace, such as the requests per second of an Ingress.',
      { describedObject, ...amount, metric },
    ),
    pods: s.object(
      `PodsMetric${suffix}`,
      'A custom metric reported by each pod, averaged over all of them, such as transactions per second.',
      { metric, ...amount },
    ),
    resource: s.object(
      `ResourceMetric${suffix}`,
      'Usage of a resource such as CPU or memory, measured for whole pods. Utilization is relative to their requests.',
      { name: resourceName, ...amount },
    ),
    containerResource: s.object(
      `ContainerResourceMetric${suffix}`,
      'Usage of a resource such as CPU or memory, measured for one container of each pod. Useful when sidecars would distort the figure.',
      { name: resourceName, ...amount, container },
    ),
    external: s.object(
      `ExternalMetric${suffix}`,
      'A metric from outside the cluster, such as the length of a queue in a cloud service.',
      { metric, ...amount },
    ),
  };
}

export const MetricSpec = s.object(
  'MetricSpec',
  'One metric to scale by, with its target. Exactly one source is set, the one named by type.',
  sources('Source', { target }),
);
export type MetricSpec = TypeOf<typeof MetricSpec>;

export const MetricStatus = s.object(
  'MetricStatus',
  'One metric with the value that was last read. The source named by type is set.',
  sources('Status', { current }),
);
export type MetricStatus = TypeOf<typeof MetricStatus>;

/** Default target for CPU utilization, in percent of the requests. */
export const DEFAULT_CPU_UTILIZATION_PERCENT = 80;

/** The metric that autoscaling/v1 has a field for. */
export const cpuUtilization = (averageUtilization: number): MetricSpec => ({
  type: 'Resource',
  resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization } },
});
