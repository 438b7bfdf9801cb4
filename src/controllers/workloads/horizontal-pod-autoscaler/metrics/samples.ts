/** Measurements of pods as plain numbers: thousandths of a core, a byte or another unit. */

import type { DeepReadonly } from '../../../../api/object-types.ts';
import type { SeenPod } from '../../../../api/seen-objects.ts';
import { addQuantities, formatQuantity, parseQuantity, scaled } from '../../../../base/quantity.ts';
import { parseDuration } from '../../../../base/time/go-duration.ts';
import type { PodMetrics } from '../../../../kinds/groups/metrics/pod-metrics.ts';
import { amountIn } from '../../../../kinds/shapes/container/resources.ts';
import { containersTogether } from '../../../../kinds/shapes/pod/pod-resources.ts';
import type { PodSpec } from '../../../../kinds/shapes/pod/pod-spec.ts';

export interface Sample {
  readonly value: bigint;
  /** Time of the measurement and the window before it, in milliseconds. */
  readonly time: number;
  readonly window: number;
}

export type Samples = ReadonlyMap<string, Sample>;

export const thousandths = (text: string): bigint => scaled(parseQuantity(text), 3);

/** Formats an amount for the status. */
export function amountText(value: bigint, resource = ''): string {
  return formatQuantity({
    mantissa: value,
    exponent: -3,
    format: resource === 'memory' ? 'BinarySI' : 'DecimalSI',
  });
}

/** The usage of each pod, or of one container of each. A pod with incomplete measurements is left out. */
export function samplesOf(
  measured: readonly DeepReadonly<PodMetrics>[],
  resource: string,
  container: string | undefined,
): Samples {
  const samples = new Map<string, Sample>();
  for (const { metadata, timestamp, window, containers } of measured) {
    const meant = container === undefined ? containers : containers.filter(({ name }) => name === container);
    const amounts = meant.map(({ usage }) => amountIn(usage, resource));
    if (amounts.length === 0 || amounts.includes(undefined)) continue;
    const value = amounts.reduce((sum, amount) => sum + thousandths(amount as string), 0n);
    samples.set(metadata.name ?? '', { value, time: Date.parse(timestamp), window: milliseconds(window) });
  }
  return samples;
}

/** Parses a duration of the API. */
function milliseconds(text: string): number {
  const read = parseDuration(text);
  return typeof read === 'number' ? read : 0;
}

/** Returns requests by pod name, in thousandths; of the whole pod without a container. Throws an Unmeasurable. */
export function requestsOf(
  pods: readonly SeenPod[],
  resource: string,
  container: string | undefined,
): ReadonlyMap<string, bigint> {
  return new Map(
    pods.map((pod) => {
      const isWhole = container === undefined && Object.keys(pod.spec.resources?.requests ?? {}).length > 0;
      return [pod.metadata.name ?? '', isWhole ? ofWhole(pod, resource) : ofContainers(pod, resource, container)];
    }),
  );
}

/** Pod-level requests take precedence over those of containers. */
function ofWhole({ metadata, spec }: SeenPod, resource: string): bigint {
  const own = amountIn(spec.resources?.requests, resource);
  const amount = own === undefined ? containersTogether(spec as PodSpec, 'requests').get(resource) : parseQuantity(own);
  if (!amount) throw new Unmeasurable(`missing pod-level request for ${resource} in Pod ${metadata.name}`);
  const overhead = amountIn(spec.overhead, resource);
  return scaled(overhead === undefined ? amount : addQuantities(amount, parseQuantity(overhead)), 3);
}

function ofContainers({ metadata, spec }: SeenPod, resource: string, container: string | undefined): bigint {
  const sidecars = spec.initContainers?.filter(({ restartPolicy }) => restartPolicy === 'Always') ?? [];
  const all = [...spec.containers, ...sidecars];
  const meant = container === undefined ? all : all.filter(({ name }) => name === container);
  if (meant.length === 0) throw new Unmeasurable(`container ${container} not found in Pod ${metadata.name}`);
  return meant.reduce((sum, { name, resources }) => {
    const amount = amountIn(resources.requests, resource);
    if (amount !== undefined) return sum + thousandths(amount);
    throw new Unmeasurable(`missing request for ${resource} in container ${name} of Pod ${metadata.name}`);
  }, 0n);
}

/** Why a metric has no value now, as events and conditions report it. */
export class Unmeasurable extends Error {
  override readonly name = 'Unmeasurable';
}
