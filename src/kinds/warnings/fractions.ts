import { parseQuantity } from '../../base/quantity.ts';
import type { ResourceList } from '../shapes/container/resources.ts';

/** Characters without which an amount is whole. */
const FINE = /[.mun]|[eE]-/;

/** Adds a warning for an amount of bytes that is no whole number. `path` is that of the list of amounts. */
export function warnOfFraction(found: string[], path: string, list: ResourceList | undefined, name: string): void {
  const amount = list?.[name];
  // Amounts that end in Mi and the like are written with whole numbers only.
  if (amount === undefined || amount.endsWith('i') || !FINE.test(amount)) return;
  const { mantissa, exponent } = parseQuantity(amount);
  if (exponent >= 0 || mantissa % 10n ** BigInt(-exponent) === 0n) return;
  found.push(`${path}[${name}]: fractional byte value ${JSON.stringify(amount)} is invalid, must be an integer`);
}

/** The same for what a claim asks for. `path` is that of its spec. */
export function claimSpecWarnings(path: string, { resources }: ClaimSpec): string[] {
  const found: string[] = [];
  warnOfFraction(found, `${path}.resources.requests`, resources?.requests, 'storage');
  warnOfFraction(found, `${path}.resources.limits`, resources?.limits, 'storage');
  return found;
}

interface ClaimSpec {
  readonly resources?: { readonly requests?: ResourceList; readonly limits?: ResourceList } | undefined;
}
