/** The proposal of each metric: a number of pods with its status, or an error. */
import type { DeepReadonly } from '../../../../api/object-types.ts';
import type { MetricStatus, MetricTarget } from '../../../../kinds/groups/autoscaling/metric.ts';
import type { Pod } from '../../../../kinds/groups/core/pod/pod.ts';
import { readySince } from '../../../shared/pods/pod-life.ts';
import type { Reading, SeenMetric } from './readings.ts';
import {
  groupPods,
  replicasForAverage,
  replicasForShare,
  replicasForTotal,
  replicasForUtilization,
  type Tolerance,
} from './replica-calculator.ts';
import { amountText, requestsOf, type Samples, thousandths, Unmeasurable } from './samples.ts';

export interface Proposal {
  readonly replicas: number;
  /** Name of the metric in messages. */
  readonly metric: string;
  readonly status: MetricStatus;
}

export interface MetricError {
  readonly reason: string;
  /** Text for the event and the condition. */
  readonly message: string;
  /** Text for a message about several metrics. */
  readonly inContext: string;
}

export interface ProposalInput {
  readonly pods: readonly DeepReadonly<Pod>[];
  /** The desired number of pods, and the observed one. */
  readonly replicas: number;
  readonly observed: number;
  readonly tolerance: Tolerance;
  readonly namespace: string;
  readonly now: number;
}

export function proposalOf(metric: SeenMetric, reading: Reading, at: ProposalInput): Proposal | MetricError {
  const { reason, context, propose } = sortOf(metric, reading, at);
  try {
    return propose();
  } catch (error) {
    if (!(error instanceof Unmeasurable)) throw error;
    return { reason, message: error.message, inContext: context(error.message) };
  }
}

interface MetricType {
  readonly reason: string;
  readonly context: (message: string) => string;
  /** Throws an Unmeasurable. */
  readonly propose: () => Proposal;
}

function sortOf(metric: SeenMetric, reading: Reading, at: ProposalInput): MetricType {
  const { resource, containerResource, pods, object, external } = metric;
  if (metric.type === 'Resource' && resource) {
    return {
      reason: 'FailedGetResourceMetric',
      context: (message) => `failed to get ${resource.name} resource metric value: ${message}`,
      propose: () => {
        const { value: current, ...rest } = byUsage({ ...resource, words: 'resource utilization' }, reading, at);
        return { ...rest, status: { type: 'Resource', resource: { name: resource.name, current } } };
      },
    };
  }
  if (metric.type === 'ContainerResource' && containerResource) {
    const { name, container } = containerResource;
    return {
      reason: 'FailedGetContainerResourceMetric',
      context: (message) => `failed to get ${container} container metric value: ${message}`,
      propose: () => {
        const asked = { ...containerResource, words: 'container resource utilization' };
        const { value: current, ...rest } = byUsage(asked, reading, at);
        return { ...rest, status: { type: 'ContainerResource', containerResource: { name, current, container } } };
      },
    };
  }
  if (metric.type === 'Pods' && pods) {
    return {
      reason: 'FailedGetPodsMetric',
      context: (message) => `failed to get pods metric value: ${message}`,
      propose: () => byPods(pods, reading, at),
    };
  }
  if (metric.type === 'Object' && object) {
    const { name } = object.metric;
    const isShare = object.target.type === 'AverageValue';
    return {
      reason: 'FailedGetObjectMetric',
      context: (message) =>
        `failed to get object metric value: ${isShare ? `failed to get ${name} object metric: ` : ''}${message}`,
      propose: () => byObject(object, reading, at),
    };
  }
  if (metric.type === 'External' && external) {
    const { name } = external.metric;
    const isShare = external.target.averageValue !== undefined;
    return {
      reason: 'FailedGetExternalMetric',
      context: (message) =>
        `failed to get ${name} external metric value: failed to get ${isShare ? `${name} external metric` : `external metric ${name}`}: ${message}`,
      propose: () => byExternal(external, reading, at),
    };
  }
  return {
    reason: 'InvalidMetricSourceType',
    context: (message) => message,
    propose: () => {
      throw new Unmeasurable(`unknown metric source type ${JSON.stringify(metric.type)}`);
    },
  };
}

interface Usage {
  readonly name: string;
  readonly container?: string;
  readonly target: DeepReadonly<MetricTarget>;
  readonly words: string;
}

function byUsage({ name, container, target, words }: Usage, reading: Reading, at: ProposalInput) {
  const { averageValue, averageUtilization } = target;
  const prefix = (text: string) => `failed to get ${name} ${text}: `;
  if (averageValue !== undefined) {
    return within(prefix('usage'), () => {
      const samples = samplesIn(reading, `unable to get metrics for resource ${name}: `);
      const groups = groupsOf(samples, name, at);
      const { replicas, average } = replicasForAverage(groups, { ...at, target: thousandths(averageValue) });
      return { replicas, metric: `${name} resource`, value: { averageValue: amountText(average, name) } };
    });
  }
  if (averageUtilization === undefined) {
    throw new Unmeasurable(
      'invalid resource metric source: neither an average utilization target nor an average value (usage) target was set',
    );
  }
  return within(prefix('utilization'), () => {
    const samples = samplesIn(reading, `unable to get metrics for resource ${name}: `);
    const groups = groupsOf(samples, name, at);
    const requests = requestsOf(at.pods, name, container);
    const found = replicasForUtilization(groups, requests, { ...at, target: averageUtilization });
    return {
      replicas: found.replicas,
      metric: `${name} ${words} (percentage of request)`,
      value: { averageUtilization: found.utilization, averageValue: amountText(found.average, name) },
    };
  });
}

function byPods({ metric, target }: NonNullable<SeenMetric['pods']>, reading: Reading, at: ProposalInput): Proposal {
  const samples = samplesIn(reading, `unable to get metric ${metric.name}: `);
  const groups = groupsOf(samples, undefined, at);
  const { replicas, average } = replicasForAverage(groups, { ...at, target: thousandths(target.averageValue ?? '0') });
  const current = { averageValue: amountText(average) };
  return {
    replicas,
    metric: `pods metric ${metric.name}`,
    status: { type: 'Pods', pods: { metric, current } } as MetricStatus,
  };
}

function byObject(source: NonNullable<SeenMetric['object']>, reading: Reading, at: ProposalInput): Proposal {
  const { metric, target, describedObject } = source;
  const { kind, name } = describedObject;
  const statusWith = (current: object) =>
    ({ type: 'Object', object: { describedObject, metric, current } }) as MetricStatus;
  // Kubernetes puts the error where the name should be, and users know it there.
  const total = () => totalIn(reading, `unable to get metric ${metric.name}: ${kind} on ${at.namespace} ${name}/`);
  if (target.type === 'Value' && target.value !== undefined) {
    const found = total();
    const replicas = replicasForTotal(found, () => readyPods(at), { ...at, target: thousandths(target.value) });
    return { replicas, metric: `${kind} metric ${metric.name}`, status: statusWith({ value: amountText(found) }) };
  }
  if (target.type === 'AverageValue' && target.averageValue !== undefined) {
    const { replicas, average } = replicasForShare(total(), { ...at, target: thousandths(target.averageValue) });
    const words = `external metric ${metric.name}(${formatSelector(metric.selector)})`;
    return { replicas, metric: words, status: statusWith({ averageValue: amountText(average) }) };
  }
  throw new Unmeasurable('invalid object metric source: neither a value target nor an average value target was set');
}

function byExternal({ metric, target }: NonNullable<SeenMetric['external']>, reading: Reading, at: ProposalInput) {
  const words = formatSelector(metric.selector);
  const total = () => totalIn(reading, `unable to get external metric ${at.namespace}/${metric.name}/${words}: `);
  const proposal = (replicas: number, current: object): Proposal => ({
    replicas,
    metric: `external metric ${metric.name}(${words})`,
    status: { type: 'External', external: { metric, current } } as MetricStatus,
  });
  if (target.averageValue !== undefined) {
    const { replicas, average } = replicasForShare(total(), { ...at, target: thousandths(target.averageValue) });
    return proposal(replicas, { averageValue: amountText(average) });
  }
  if (target.value !== undefined) {
    const found = total();
    const replicas = replicasForTotal(found, () => readyPods(at), { ...at, target: thousandths(target.value) });
    return proposal(replicas, { value: amountText(found) });
  }
  throw new Unmeasurable('invalid external metric source: neither a value target nor an average value target was set');
}

function samplesIn(reading: Reading, prefix: string): Samples {
  if (reading.type === 'pods') return reading.samples;
  throw new Unmeasurable(prefix + (reading.type === 'problem' ? reading.why : 'there are no values of pods'));
}

function totalIn(reading: Reading, prefix: string): bigint {
  if (reading.type === 'total') return reading.value;
  throw new Unmeasurable(prefix + (reading.type === 'problem' ? reading.why : 'there is no value'));
}

function groupsOf(samples: Samples, resource: string | undefined, { pods, now }: ProposalInput) {
  if (pods.length === 0) throw new Unmeasurable(NO_PODS);
  const groups = groupPods(pods, { samples, resource, now });
  if (groups.samples.size > 0) return groups;
  throw new Unmeasurable('did not receive metrics for targeted pods (pods might be unready)');
}

function readyPods({ pods }: ProposalInput): number {
  if (pods.length === 0) throw new Unmeasurable(`unable to calculate ready pods: ${NO_PODS}`);
  return pods.filter((pod) => pod.status.phase === 'Running' && readySince(pod) !== undefined).length;
}

const NO_PODS = 'no pods returned by selector while calculating replica count';

function within<T>(prefix: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw error instanceof Unmeasurable ? new Unmeasurable(prefix + error.message, { cause: error }) : error;
  }
}

type Selector = NonNullable<SeenMetric['pods']>['metric']['selector'];

/** Formats a selector as Go's debug output, which autoscaler messages have always used. */
function formatSelector(selector: Selector): string {
  if (!selector) return 'nil';
  const labels = Object.entries(selector.matchLabels ?? {}).sort(([a], [b]) => (a < b ? -1 : 1));
  const expressions = (selector.matchExpressions ?? []).map(
    ({ key, operator, values = [] }) =>
      `LabelSelectorRequirement{Key:${key},Operator:${operator},Values:[${values.join(' ')}],},`,
  );
  const map = labels.map(([key, value]) => `${key}: ${value},`).join('');
  return `&LabelSelector{MatchLabels:map[string]string{${map}},MatchExpressions:[]LabelSelectorRequirement{${expressions.join('')}},}`;
}
