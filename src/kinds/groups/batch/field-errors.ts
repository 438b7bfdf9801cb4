import type { FieldError } from '../../../schema/field-error.ts';

/** The detail of an error for a missing value with a fixed set of choices. */
export const choices = (words: readonly string[]) =>
  `valid values: [${words.map((word) => JSON.stringify(word)).join(' ')}]`;

/** Returns an error about a combination of values, which shows none of them. */
export const invalidCombination = (field: string, detail: string): FieldError => ({
  reason: 'FieldValueInvalid',
  field,
  message: `Invalid value: ${detail}`,
});
