/** What was measured of pods, as plain numbers: thousandths of a processor, a byte, a request, or whatever is counted. */
import { formatQuantity, parseQuantity, scaled } from '../../../../base/quantity.ts';
import type { DeepReadonly } from '../../../../client/object-types.ts';
import { parseDuration } from '../../../../kinds/groups/batch/every-duration.ts';
import type { PodMetrics } from '../../../../kinds/groups/metrics/pod-metrics.ts';
import { amountIn } from '../../../../kinds/shapes/container/resources.ts';

export interface Sample {
  readonly value: bigint;
  /** When it was measured, and over how long before, in milliseconds. */
  readonly time: number;
  readonly window: number;
}

/** By the names of the pods. */
export type Samples = ReadonlyMap<string, Sample>;

export const thousandths = (text: string): bigint => scaled(parseQuantity(text), 3);

/** How a status tells an amount. */
export function amountText(value: bigint, resource = ''): string {
  return formatQuantity({
    mantissa: value,
    exponent: -3,
    format: resource === 'memory' ? 'BinarySI' : 'DecimalSI',
  });
}

/**
 * What each pod, or one container of each, uses of a resource. A pod of which not everything is known is left out.
 */
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

/** A duration as the API writes it. */
function milliseconds(text: string): number {
  const read = parseDuration(text);
  return typeof read === 'number' ? read : 0;
}
