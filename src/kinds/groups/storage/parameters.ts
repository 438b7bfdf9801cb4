/** What a class tells a driver: names that only the driver understands, and the driver itself. */
import { type FieldError, invalid, tooLong } from '../../../schema/field-error.ts';
import { qualifiedName } from '../../../schema/names.ts';

const MAX_PARAMETERS = 512;
const MAX_BYTES = 256 * 1024;

/** On a map of parameters. */
export function parameters(map: Readonly<Record<string, string>>): FieldError[] {
  const entries = Object.entries(map);
  if (entries.length > MAX_PARAMETERS) return [tooLong('', MAX_PARAMETERS)];
  const found = entries.some(([key]) => !key) ? [invalid('', '', 'field can not be empty.')] : [];
  return totalBytes(entries) > MAX_BYTES ? [...found, tooLong('', MAX_BYTES)] : found;
}

/** On a map that a driver wrote, and nobody else reads. */
export function metadataSize(map: Readonly<Record<string, string>>): FieldError | undefined {
  return totalBytes(Object.entries(map)) > MAX_BYTES ? tooLong('', MAX_BYTES) : undefined;
}

function totalBytes(entries: readonly (readonly [string, string])[]): number {
  return entries.reduce((sum, [key, value]) => sum + Buffer.byteLength(key) + Buffer.byteLength(value), 0);
}

/** On the name of whoever provides volumes. */
export function provisioner(name: string): FieldError[] {
  const lower = name.toLowerCase();
  return qualifiedName(lower).map((complaint) => invalid('', lower, complaint));
}
