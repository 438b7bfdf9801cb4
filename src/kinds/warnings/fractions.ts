import { parseQuantity } from '../../base/quantity.ts';
import type { ResourceList } from '../shapes/container/resources.ts';

/** An amount without these characters is an integer. */
const FINE = /[.mun]|[eE]-/;

/** Adds a warning for a fractional number of bytes. `path` is that of the resource list. */
export function warnOfFraction(found: string[], path: string, list: ResourceList | undefined, name: string): void {
  const amount = list?.[name];
  // Canonical amounts with a binary suffix such as Mi are always integers.
  if (amount === undefined || amount.endsWith('i') || !FINE.test(amount)) return;
  const { mantissa, exponent } = parseQuantity(amount);
  if (exponent >= 0 || mantissa % 10n ** BigInt(-exponent) === 0n) return;
  found.push(`${path}[${name}]: fractional byte value ${JSON.stringify(amount)} is invalid, must be an integer`);
}

/** Returns warnings for the storage request of a claim. `path` is that of its spec. */
export function claimSpecWarnings(path: string, { resources }: ClaimSpec): string[] {
  const found: string[] = [];
  warnOfFraction(found, `${path}.resources.requests`, resources?.requests, 'storage');
  warnOfFraction(found, `${path}.resources.limits`, resources?.limits, 'storage');
  return found;
}

interface ClaimSpec {
  readonly resources?: { readonly requests?: ResourceList; readonly limits?: ResourceList } | undefined;
}
