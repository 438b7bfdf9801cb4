/** Validation of an autoscaler's metrics. */
import { addAll } from '../../../base/collections/add-all.ts';
import { compareQuantities, parseQuantity } from '../../../base/quantity.ts';
import { type FieldError, forbidden, invalid, notSupported, required, under } from '../../../schema/field-error.ts';
import { dnsLabel, pathSegment } from '../../../schema/names.ts';
import type { RuleContext } from '../../../schema/schema.ts';
import { containerResourceName } from '../../shapes/pod/resource-names.ts';
import { type CrossVersionObjectReference, kindAndName, malformedVersion } from './cross-version-reference.ts';
import type { MetricSpec, MetricTarget } from './metric.ts';

type Source = Exclude<keyof MetricSpec, 'type'>;

const sourceOf: Readonly<Record<string, Source>> = {
  ContainerResource: 'containerResource',
  External: 'external',
  Object: 'object',
  Pods: 'pods',
  Resource: 'resource',
};
const types = Object.keys(sourceOf);

/** Sources in the order of checks. Only the first one that is set is checked; there should be only one. */
const order: readonly Source[] = ['object', 'external', 'pods', 'resource', 'containerResource'];

/** Checks the list of metrics. */
export function metricRules(
  metrics: readonly MetricSpec[],
  context: RuleContext<readonly MetricSpec[], unknown, { readonly minReplicas?: number }>,
): FieldError[] {
  const tolerant = context.old?.some(({ object }) => object && malformedVersion(object.describedObject)) ?? false;
  const found = metrics.flatMap((metric, index) => under(`[${index}]`, metricRule(metric, tolerant)));
  const { minReplicas } = context.parent;
  if (minReplicas === 0 && !metrics.some(({ type }) => type === 'Object' || type === 'External')) {
    const detail = 'must specify at least one Object or External metric to support scaling to zero replicas';
    found.push(forbidden('', detail));
  }
  return found;
}

function metricRule(metric: MetricSpec, tolerant: boolean): FieldError[] {
  const { type } = metric;
  const found: FieldError[] = type ? [] : [required('type', 'must specify a metric source type')];
  const expected = Object.hasOwn(sourceOf, type) ? sourceOf[type] : undefined;
  if (!expected) found.push(notSupported('type', type, types));
  const present = order.filter((source) => metric[source]);
  const first = present[0];
  if (first) addAll(found, under(first, sourceProblems(metric, first, tolerant)));
  if (expected && !metric[expected]) {
    found.push(required(expected, 'must populate information for the given metric source'));
  }
  if (present.length > 1) {
    for (const source of present) {
      if (source !== expected) found.push(forbidden(source, 'must populate the given metric source only'));
    }
  }
  return found;
}

function sourceProblems(
  { object, external, pods, resource, containerResource }: MetricSpec,
  source: Source,
  tolerant: boolean,
) {
  switch (source) {
    case 'object':
      return object
        ? [...describedObject(object.describedObject, tolerant), ...metricName(object.metric), ...ofObject(object)]
        : [];
    case 'external':
      return external ? [...metricName(external.metric), ...ofExternal(external)] : [];
    case 'pods':
      return pods ? [...metricName(pods.metric), ...ofPods(pods)] : [];
    case 'resource':
      return resource ? [...(resource.name ? [] : [noResource]), ...ofResource(resource)] : [];
    case 'containerResource':
      return containerResource ? [...nameAndContainer(containerResource), ...ofResource(containerResource)] : [];
  }
}

/** `tolerant` accepts a malformed apiVersion. */
function describedObject(reference: CrossVersionObjectReference, tolerant: boolean): FieldError[] {
  const malformed = tolerant ? undefined : malformedVersion(reference);
  return under('describedObject', [...kindAndName(reference), ...(malformed ? [malformed] : [])]);
}

function metricName({ name }: { readonly name: string }): FieldError[] {
  if (!name) return [required('metric.name', 'must specify a metric name')];
  return pathSegment(name).map((complaint) => invalid('metric.name', name, complaint));
}

const noResource = required('name', 'must specify a resource name');

function nameAndContainer({ name, container }: { readonly name: string; readonly container: string }): FieldError[] {
  return [
    ...(name ? containerResourceName(name).map((each) => invalid('name', name, each)) : [noResource]),
    ...(container
      ? dnsLabel(container).map((each) => invalid('container', container, each))
      : [required('container', 'must specify a container')]),
  ];
}

interface HasTarget {
  readonly target: MetricTarget;
}

function ofObject({ target }: HasTarget): FieldError[] {
  const found = targetProblems(target);
  if (!target.value && !target.averageValue) {
    found.push(required('target.averageValue', 'must set either a target value or averageValue'));
  }
  return found;
}

function ofExternal({ target }: HasTarget): FieldError[] {
  const found = targetProblems(target);
  if (!target.value && !target.averageValue) {
    found.push(required('target.averageValue', 'must set either a target value for metric or a per-pod target'));
  }
  if (target.value && target.averageValue) {
    found.push(forbidden('target.value', 'may not set both a target value for metric and a per-pod target'));
  }
  return found;
}

function ofPods({ target }: HasTarget): FieldError[] {
  const found = targetProblems(target);
  if (!target.averageValue) found.push(required('target.averageValue', 'must specify a positive target averageValue'));
  return found;
}

function ofResource({ target }: HasTarget): FieldError[] {
  const found = targetProblems(target);
  const { averageUtilization, averageValue } = target;
  if (averageUtilization === undefined && !averageValue) {
    found.push(required('target.averageUtilization', 'must set either a target raw value or a target utilization'));
  }
  if (averageUtilization !== undefined && averageValue) {
    found.push(forbidden('target.averageValue', 'may not set both a target raw value and a target utilization'));
  }
  return found;
}

const targetTypes = ['Utilization', 'Value', 'AverageValue'];
const zero = parseQuantity('0');

function targetProblems({ type, value, averageValue, averageUtilization }: MetricTarget): FieldError[] {
  const found: FieldError[] = type ? [] : [required('type', 'must specify a metric target type')];
  if (!targetTypes.includes(type)) {
    found.push(invalid('type', type, 'must be either Utilization, Value, or AverageValue'));
  }
  for (const [field, amount] of Object.entries({ value, averageValue })) {
    if (amount && compareQuantities(parseQuantity(amount), zero) <= 0) {
      found.push(invalid(field, amount, 'must be positive'));
    }
  }
  if (averageUtilization !== undefined && averageUtilization < 1) {
    found.push(invalid('averageUtilization', averageUtilization, 'must be greater than 0'));
  }
  return under('target', found);
}
