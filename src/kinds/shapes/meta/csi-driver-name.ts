import { type FieldError, invalid, tooLong } from '../../../schema/field-error.ts';
import { dnsSubdomain } from '../../../schema/names.ts';

const MAX_LENGTH = 63;

/** Checks the name of a CSI driver, which may have capital letters. */
export function csiDriverName(name: string): FieldError[] {
  const found = Buffer.byteLength(name) > MAX_LENGTH ? [tooLong('', MAX_LENGTH)] : [];
  for (const complaint of dnsSubdomain(name.toLowerCase())) found.push(invalid('', name, complaint));
  return found;
}
