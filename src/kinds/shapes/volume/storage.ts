/** Fields and rules that volumes and claims share. */

import { compareQuantities, parseQuantity } from '../../../base/quantity.ts';
import { s } from '../../../schema/builders.ts';
import { type FieldError, forbidden, invalid, notSupported } from '../../../schema/field-error.ts';

const modes = ['ReadOnlyMany', 'ReadWriteMany', 'ReadWriteOnce', 'ReadWriteOncePod'];

/** Checks access modes. Errors are reported at the list. */
export function accessModes(wanted: readonly string[]): FieldError[] {
  const errors = wanted.filter((mode) => !modes.includes(mode)).map((mode) => notSupported('', mode, modes));
  const known = new Set(wanted.filter((mode) => modes.includes(mode)));
  if (known.has('ReadWriteOncePod') && known.size > 1) {
    errors.push(forbidden('', 'may not use ReadWriteOncePod with other access modes'));
  }
  return errors;
}

export const volumeModes = ['Block', 'Filesystem'] as const;

const zero = parseQuantity('0');

/** A rule on an amount of storage. */
export function positive(amount: string): FieldError[] {
  return compareQuantities(parseQuantity(amount), zero) > 0 ? [] : [invalid('', amount, 'must be greater than zero')];
}

function notNegative(amount: string): FieldError[] {
  return amount.startsWith('-') ? [invalid('', amount, 'must be a valid resource quantity')] : [];
}

/** Amounts that a status reports. */
export const StatusAmounts = s.map(s.quantity({ thousandths: true, rules: [notNegative] }));
