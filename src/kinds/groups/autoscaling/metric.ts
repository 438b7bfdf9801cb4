/** What an autoscaler looks at: what it wants to find, and what it found. Which rules hold is in metric-rules.ts. */
import { s } from '../../../schema/builders.ts';
import type { Fields, TypeOf } from '../../../schema/schema.ts';
import { CrossVersionObjectReference } from './cross-version-reference.ts';

/** Nobody judges it: it is for whoever collects the metrics. */
export const MetricSelector = s.object(
  'LabelSelector',
  {
    matchLabels: s.map(s.string()),
    matchExpressions: s.list(
      s.object('LabelSelectorRequirement', {
        key: s.string({ zero: true }),
        operator: s.string({ zero: true }),
        values: s.list(s.string()),
      }),
    ),
  },
  { atomic: true, description: 'Which of the values under the name are meant, told by labels.' },
);

const MetricIdentifier = s.object('MetricIdentifier', {
  name: s.string({ zero: true, description: 'What the metric is called.' }),
  selector: MetricSelector,
});

const MetricTarget = s.object('MetricTarget', {
  type: s.string({ zero: true, description: 'Utilization, Value or AverageValue.' }),
  value: s.quantity({ description: 'The value that is wanted.' }),
  averageValue: s.quantity({ description: 'The value that is wanted for each pod, on average.' }),
  averageUtilization: s.int32({
    description: 'How many hundredths of their requests the pods should use, on average.',
  }),
});
export type MetricTarget = TypeOf<typeof MetricTarget>;

const MetricValueStatus = s.object('MetricValueStatus', {
  value: s.quantity({ description: 'The value that was found.' }),
  averageValue: s.quantity({ description: 'The value for each pod, on average.' }),
  averageUtilization: s.int32({ description: 'How many hundredths of their requests the pods use, on average.' }),
});

const target = s.use(MetricTarget, { zero: true, description: 'What is wanted.' });
const current = s.use(MetricValueStatus, { zero: true, description: 'What was found.' });
const metric = s.use(MetricIdentifier, { zero: true, description: 'Which metric.' });
const describedObject = s.use(CrossVersionObjectReference, { zero: true, description: 'What the metric tells of.' });
const resourceName = s.string({ zero: true, description: 'Which resource, such as cpu.' });
const container = s.string({ zero: true, description: 'Which container of each pod.' });

/** The five sorts of metrics, each with what is wanted or what was found. */
function sources<F extends Fields>(suffix: 'Source' | 'Status', amount: F) {
  return {
    type: s.string({ zero: true, description: 'Object, Pods, Resource, ContainerResource or External.' }),
    object: s.object(
      `ObjectMetric${suffix}`,
      { describedObject, ...amount, metric },
      {
        description: 'A metric of another object.',
      },
    ),
    pods: s.object(`PodsMetric${suffix}`, { metric, ...amount }, { description: 'A metric that each pod has.' }),
    resource: s.object(
      `ResourceMetric${suffix}`,
      { name: resourceName, ...amount },
      {
        description: 'How much of a resource the pods use.',
      },
    ),
    containerResource: s.object(
      `ContainerResourceMetric${suffix}`,
      { name: resourceName, ...amount, container },
      {
        description: 'How much of a resource one container of each pod uses.',
      },
    ),
    external: s.object(
      `ExternalMetric${suffix}`,
      { metric, ...amount },
      {
        description: 'A metric from outside the cluster.',
      },
    ),
  };
}

export const MetricSpec = s.object('MetricSpec', sources('Source', { target }));
export type MetricSpec = TypeOf<typeof MetricSpec>;

export const MetricStatus = s.object('MetricStatus', sources('Status', { current }));
export type MetricStatus = TypeOf<typeof MetricStatus>;

/** The part of the CPU that an autoscaler aims at where it is told nothing else. */
export const DEFAULT_UTILIZATION = 80;

/** A metric that the older version has a field for. */
export const cpuUtilization = (averageUtilization: number): MetricSpec => ({
  type: 'Resource',
  resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization } },
});
