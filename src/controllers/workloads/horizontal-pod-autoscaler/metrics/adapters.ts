/** Reads custom and external metrics from registered adapters. Nothing that these other servers send is trusted. */

import type { DeepReadonly, KindRef } from '../../../../api/object-types.ts';
import { isTree } from '../../../../base/json/tree.ts';
import type { MetricSpec } from '../../../../kinds/groups/autoscaling/metric.ts';
import { splitApiVersion } from '../../../../kinds/kind.ts';
import { selectorText } from '../../../../schema/selector/selector.ts';
import type { ReadTools } from '../../../loop/define.ts';
import type { AggregatedOptions, KindsOptions } from '../../../shared/aggregated-kinds.ts';
import { type Samples, thousandths } from './samples.ts';

type PodsMetric = NonNullable<DeepReadonly<MetricSpec>['pods']>;
type ObjectMetric = NonNullable<DeepReadonly<MetricSpec>['object']>;
type Metric = PodsMetric['metric'];

export interface Adapters extends ReadTools, KindsOptions, AggregatedOptions {
  readonly namespace: string;
}

const CUSTOM = { group: 'custom.metrics.k8s.io', versions: ['v1beta2', 'v1beta1'] } as const;
const EXTERNAL = { group: 'external.metrics.k8s.io', versions: ['v1beta1'] } as const;
/** The time between two evaluations: an adapter that does not answer must not hold up other autoscalers for longer. */
const TIMEOUT_MS = 15_000;
/** The window of a measurement that names none. */
const DEFAULT_WINDOW_SECONDS = 60;
const ALL_OBJECTS = '*';

export async function customOfPods(metric: Metric, selector: string, adapters: Adapters): Promise<Samples> {
  const items = await customValues(metric, { plural: 'pods', name: ALL_OBJECTS, selector }, adapters);
  return new Map(
    items.map((item) => {
      const { describedObject, timestamp, windowSeconds } = item;
      const window = typeof windowSeconds === 'number' ? windowSeconds : DEFAULT_WINDOW_SECONDS;
      const sample = { value: amountOf(item), time: Date.parse(String(timestamp)), window: window * 1_000 };
      return [isTree(describedObject) ? String(describedObject.name) : '', sample];
    }),
  );
}

export async function customOfObject({ metric, describedObject }: ObjectMetric, adapters: Adapters): Promise<bigint> {
  const { apiVersion = '', kind: wanted, name } = describedObject;
  const [group] = splitApiVersion(apiVersion);
  const kind = [...adapters.kinds()].find(
    (each) => each.kind === wanted && each.versions.some((at) => at.group === group),
  );
  if (!kind) throw new Error(`no matches for kind ${JSON.stringify(wanted)} in group ${JSON.stringify(group)}`);
  const isNamespace = group === '' && wanted === 'Namespace';
  const plural = kind.group === '' ? kind.plural : `${kind.plural}.${kind.group}`;
  const items = await customValues(metric, isNamespace ? { plural: 'metrics' } : { plural, name }, adapters);
  const [item, ...others] = items;
  if (!item || others.length > 0) {
    throw new Error(`the adapter sent ${items.length} values where one was expected`);
  }
  return amountOf(item);
}

/** Reads values from outside the cluster, one for each series that the metric's selector matches. */
export async function external(metric: Metric, { namespace, ...adapters }: Adapters): Promise<readonly bigint[]> {
  const apiVersion = versionOf(EXTERNAL, adapters);
  if (apiVersion === undefined) {
    throw new Error(`the server could not find the requested resource (get ${metric.name}.${EXTERNAL.group})`);
  }
  const query = { labelSelector: selectorText(metric.selector) };
  return (await valuesAt(apiVersion, [namespace, metric.name], query, adapters)).map(amountOf);
}

interface Meant {
  readonly plural: string;
  /** Undefined for a metric of the namespace. */
  readonly name?: string;
  /** Selects objects by their labels. */
  readonly selector?: string;
}

function customValues(
  metric: Metric,
  { plural, name, selector }: Meant,
  adapters: Adapters,
): Promise<readonly Value[]> {
  const apiVersion = versionOf(CUSTOM, adapters);
  if (apiVersion === undefined) throw new Error(`no custom metrics API (${CUSTOM.group}) registered`);
  const steps = [adapters.namespace, plural, ...(name === undefined ? [] : [name]), metric.name];
  const metricLabelSelector = selectorText(metric.selector);
  return valuesAt(apiVersion, steps, { labelSelector: selector ?? '', metricLabelSelector }, adapters);
}

/** The version to use of a group; undefined when no adapter serves one. */
function versionOf(
  { group, versions }: { readonly group: string; readonly versions: readonly string[] },
  { aggregated }: AggregatedOptions,
): string | undefined {
  const known = versions.map((version) => `${group}/${version}`);
  return aggregated().find(({ apiVersion }) => known.includes(apiVersion))?.apiVersion;
}

type Value = Readonly<Record<string, unknown>>;

/** Reads the list of values below a namespace. `steps` are the parts of the path from the name of the namespace on. */
async function valuesAt(
  apiVersion: string,
  [namespace = '', ...steps]: readonly string[],
  query: Readonly<Record<string, string>>,
  { client, signal }: ReadTools,
): Promise<readonly Value[]> {
  const given = Object.fromEntries(Object.entries(query).filter(([, text]) => text !== ''));
  const [group] = splitApiVersion(apiVersion);
  const namespaces: KindRef = {
    ...{ group, hub: { apiVersion }, kind: 'MetricValueList', plural: 'namespaces', scope: 'Cluster' },
    isAggregated: true,
  };
  const path = steps.join('/');
  const { items } = await client
    .of(namespaces)
    .subresource(namespace, path)
    .get({ signal, timeoutMs: TIMEOUT_MS, query: given });
  if (!Array.isArray(items) || !items.every(isTree)) throw new Error('the adapter sent no list of values');
  return items;
}

function amountOf({ value }: Value): bigint {
  if (typeof value !== 'string') throw new Error('the adapter sent a value that is not a quantity');
  return thousandths(value);
}
