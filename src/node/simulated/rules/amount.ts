/** An amount of a resource in use: `250m`, `40%` of the request, or a range of either. */
import { parseQuantity, QuantityError } from '../../../base/quantity.ts';

export type Measured = 'cpu' | 'memory';

export interface Amount {
  /** In percent of the request; otherwise in nanocores or bytes. */
  readonly isPercent: boolean;
  readonly min: number;
  readonly max: number;
}

/** Returns undefined when the text is not an amount. */
export function parseAmount(text: string, resource: Measured): Amount | undefined {
  const [first = '', last = first, ...rest] = text.split('..').map((part) => part.trim());
  const isPercent = first.endsWith('%');
  if (rest.length > 0 || last.endsWith('%') !== isPercent) return undefined;
  const [min, max] = [first, last].map((part) => (isPercent ? percent(part) : unitsOf(part, resource)));
  return min === undefined || max === undefined || max < min ? undefined : { isPercent, min, max };
}

function percent(text: string): number | undefined {
  return /^\d+(\.\d+)?%$/.test(text) ? Number(text.slice(0, -1)) : undefined;
}

/** Returns nanocores or bytes; undefined when the text is not a quantity, or negative. */
export function unitsOf(text: string, resource: Measured): number | undefined {
  try {
    const { mantissa, exponent } = parseQuantity(text);
    const units = Number(mantissa) * 10 ** (exponent + (resource === 'cpu' ? 9 : 0));
    return units >= 0 ? units : undefined;
  } catch (error) {
    if (error instanceof QuantityError) return undefined;
    throw error;
  }
}

/** Picks an amount from the range, always the same for a seed. */
export function sampleAmount({ min, max }: Amount, seed: string): number {
  return max === min ? min : min + (max - min) * fractionOf(seed);
}

/** Hashes evenly to 0..1: FNV-1a, with a final mix for seeds that differ only at the end. */
function fractionOf(seed: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < seed.length; at++) hash = Math.imul(hash ^ seed.charCodeAt(at), 0x01000193);
  hash = Math.imul(hash ^ (hash >>> 15), 0x2c1b3c6d);
  return ((hash ^ (hash >>> 13)) >>> 0) / 2 ** 32;
}
