/** How much of a resource is in use: `250m`, `40%` of what is requested, or anything between two of the same sort. */
import { parseQuantity, QuantityError } from '../../../base/quantity.ts';

export type Measured = 'cpu' | 'memory';

export interface Amount {
  /** Hundredths of the request; else billionths of a processor, or bytes. */
  readonly isShare: boolean;
  readonly least: number;
  readonly most: number;
}

/** Undefined when the text is none. */
export function parseAmount(text: string, resource: Measured): Amount | undefined {
  const [first = '', last = first, ...rest] = text.split('..').map((part) => part.trim());
  const isShare = first.endsWith('%');
  if (rest.length > 0 || last.endsWith('%') !== isShare) return undefined;
  const [least, most] = [first, last].map((part) => (isShare ? percent(part) : unitsOf(part, resource)));
  return least === undefined || most === undefined || most < least ? undefined : { isShare, least, most };
}

function percent(text: string): number | undefined {
  return /^\d+(\.\d+)?%$/.test(text) ? Number(text.slice(0, -1)) : undefined;
}

/** Billionths of a processor, or bytes; undefined when it is no quantity, or one below zero. */
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

/** One out of the amount, always the same for the same word. */
export function drawAmount({ least, most }: Amount, word: string): number {
  return most === least ? least : least + (most - least) * fractionOf(word);
}

/** From 0 to 1, spread evenly over words: FNV-1a, and a last stir for words that differ only at their end. */
function fractionOf(word: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < word.length; at++) hash = Math.imul(hash ^ word.charCodeAt(at), 0x01000193);
  hash = Math.imul(hash ^ (hash >>> 15), 0x2c1b3c6d);
  return ((hash ^ (hash >>> 13)) >>> 0) / 2 ** 32;
}
