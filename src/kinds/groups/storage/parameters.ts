/** Rules for the parameters and the provisioner of a class. */
import { type FieldError, invalid, tooLong } from '../../../schema/field-error.ts';
import { qualifiedName } from '../../../schema/names.ts';

const MAX_PARAMETERS = 512;
const MAX_PARAMETERS_BYTES = 256 * 1024;

/** Checks a map of parameters. */
export function parameters(map: Readonly<Record<string, string>>): FieldError[] {
  const entries = Object.entries(map);
  if (entries.length > MAX_PARAMETERS) return [tooLong('', MAX_PARAMETERS)];
  const found = entries.some(([key]) => !key) ? [invalid('', '', 'field can not be empty.')] : [];
  return totalBytes(entries) > MAX_PARAMETERS_BYTES ? [...found, tooLong('', MAX_PARAMETERS_BYTES)] : found;
}

/** Checks the size of the metadata that a driver returned for an attachment. */
export function metadataSize(map: Readonly<Record<string, string>>): FieldError | undefined {
  return totalBytes(Object.entries(map)) > MAX_PARAMETERS_BYTES ? tooLong('', MAX_PARAMETERS_BYTES) : undefined;
}

function totalBytes(entries: readonly (readonly [string, string])[]): number {
  return entries.reduce((sum, [key, value]) => sum + Buffer.byteLength(key) + Buffer.byteLength(value), 0);
}

/** Checks the name of a provisioner or driver. */
export function provisioner(name: string): FieldError[] {
  const lower = name.toLowerCase();
  return qualifiedName(lower).map((complaint) => invalid('', lower, complaint));
}
