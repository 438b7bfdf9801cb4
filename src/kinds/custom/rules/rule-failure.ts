/** The errors of rules that failed. */
import type { JsonSchema, ValidationRule } from '../../../json-schema/json-schema.ts';
import { duplicate, type FieldError, forbidden, invalid, omitted, required } from '../../../schema/field-error.ts';
import { rulePath } from './rule-path.ts';

interface Found {
  readonly field: string;
  readonly value: unknown;
  readonly detail: string;
}

/** The field that a failure is reported for. `path` is where the rule stands. */
function pathOf(schema: JsonSchema, { fieldPath }: ValidationRule, path: string): string {
  const below = fieldPath ? rulePath(schema, fieldPath) : undefined;
  if (below) return path ? `${path}.${below}` : below;
  return path || '<nil>';
}

/** Objects and lists are not shown. */
function errorOf({ type }: JsonSchema, { reason }: ValidationRule, { field, value, detail }: Found): FieldError {
  const isLarge = type === 'object' || type === 'array';
  switch (reason) {
    case 'FieldValueForbidden':
      return forbidden(field, detail);
    case 'FieldValueRequired':
      return required(field, detail);
    case 'FieldValueDuplicate':
      return isLarge ? { ...omitted(field, ''), reason, message: 'Duplicate value' } : duplicate(field, value);
    default:
      return isLarge ? omitted(field, detail) : invalid(field, value, detail);
  }
}

export const failure = { pathOf, errorOf };
