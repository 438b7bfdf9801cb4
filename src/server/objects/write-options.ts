import type { Verb } from '../../kinds/kind.ts';
import { type FieldError, notSupported } from '../../schema/field-error.ts';
import type { Call } from '../api.ts';
import { invalidObject } from './check.ts';

const KINDS: Partial<Record<Verb, string>> = {
  create: 'CreateOptions',
  update: 'UpdateOptions',
  patch: 'PatchOptions',
};

const FIELD_VALIDATION = ['', 'Ignore', 'Strict', 'Warn'];

/** Throws 422 when the options of a write have unsupported values. */
export function checkWriteOptions({ verb, options }: Call): void {
  const kind = KINDS[verb];
  if (!kind || !options) return;
  const { dryRun, fieldValidation } = options;
  const errors: FieldError[] = [];
  if (dryRun?.some((stage) => stage !== 'All')) errors.push(notSupported('dryRun', dryRun, ['All']));
  if (fieldValidation !== undefined && !FIELD_VALIDATION.includes(fieldValidation)) {
    errors.push(notSupported('fieldValidation', fieldValidation, FIELD_VALIDATION));
  }
  if (errors.length > 0) throw invalidObject({ group: 'meta.k8s.io', kind }, '', errors);
}
