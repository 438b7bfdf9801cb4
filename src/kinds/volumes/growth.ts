import { compareQuantities, parseQuantity } from '../../base/quantity.ts';
import type { SeenClaim } from './binding.ts';
import { requestOf } from './matching.ts';

interface GrowingClaim extends SeenClaim {
  readonly status: { readonly phase?: string; readonly capacity?: Readonly<Record<string, string>> };
}

/** Reports whether a bound claim requests more storage than its volume has. */
export function isToGrow(claim: GrowingClaim): boolean {
  const { phase, capacity } = claim.status;
  return phase === 'Bound' && capacity?.storage !== undefined && isMore(requestOf(claim), capacity.storage);
}

export function isMore(amount: string, other: string): boolean {
  return compareQuantities(parseQuantity(amount), parseQuantity(other)) > 0;
}
