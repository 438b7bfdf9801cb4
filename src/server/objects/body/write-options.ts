import type { Call } from '../../../api/call.ts';
import { addAll } from '../../../base/collections/add-all.ts';
import type { Verb } from '../../../kinds/kind.ts';
import { type FieldError, forbidden, invalid, notSupported, required, tooLong } from '../../../schema/field-error.ts';
import { MAX_MANAGER_BYTES, unprintable } from '../managed-fields/manager-name.ts';
import { invalidObject } from './check.ts';

const KINDS: Partial<Record<Verb, string>> = {
  create: 'CreateOptions',
  update: 'UpdateOptions',
  patch: 'PatchOptions',
};

const FIELD_VALIDATION = ['', 'Ignore', 'Strict', 'Warn'];

/** Checks the options of a write. Throws 422 for unsupported values. */
export function checkWriteOptions({ verb, options = {}, patchType }: Call): void {
  const kind = KINDS[verb];
  if (!kind) return;
  const { dryRun, fieldValidation, fieldManager = '', force } = options;
  const errors: FieldError[] = [];
  if (patchType === 'apply') {
    if (!fieldManager) errors.push(required('fieldManager', 'is required for apply patch'));
  } else if (force !== undefined) errors.push(forbidden('force', 'may not be specified for non-apply patch'));
  if (fieldManager) addAll(errors, managerErrors(fieldManager));
  if (dryRun?.some((stage) => stage !== 'All')) errors.push(notSupported('dryRun', dryRun, ['All']));
  if (fieldValidation !== undefined && !FIELD_VALIDATION.includes(fieldValidation)) {
    errors.push(notSupported('fieldValidation', fieldValidation, FIELD_VALIDATION));
  }
  if (errors.length > 0) throw invalidObject({ group: 'meta.k8s.io', kind }, '', errors);
}

function managerErrors(name: string): FieldError[] {
  const errors: FieldError[] = [];
  if (Buffer.byteLength(name) > MAX_MANAGER_BYTES) errors.push(tooLong('fieldManager', MAX_MANAGER_BYTES));
  const found = unprintable(name);
  if (!found) return errors;
  const code = found.character.codePointAt(0)!.toString(16).toUpperCase().padStart(4, '0');
  return [...errors, invalid('fieldManager', name, `invalid character U+${code} (at position ${found.at})`)];
}
