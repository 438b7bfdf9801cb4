/** Measurements of pods as plain numbers: thousandths of a core, a byte or another unit. */

import type { DeepReadonly } from '../../../../api/object-types.ts';
import { formatQuantity, parseQuantity, scaled } from '../../../../base/quantity.ts';
import { parseDuration } from '../../../../base/time/go-duration.ts';
import type { PodMetrics } from '../../../../kinds/groups/metrics/pod-metrics.ts';
import { amountIn } from '../../../../kinds/shapes/container/resources.ts';

export interface Sample {
  readonly value: bigint;
  /** Time of the measurement and the window before it, in milliseconds. */
  readonly time: number;
  readonly window: number;
}

/** Samples by pod name. */
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
