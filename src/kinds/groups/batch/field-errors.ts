import type { FieldError } from '../../../schema/field-error.ts';

/** The words to choose from, where none was given. */
export const choices = (words: readonly string[]) =>
  `valid values: [${words.map((word) => JSON.stringify(word)).join(' ')}]`;

/** What is wrong is not one value but how several go together; none is shown. */
export const invalidAsAWhole = (field: string, detail: string): FieldError => ({
  reason: 'FieldValueInvalid',
  field,
  message: `Invalid value: ${detail}`,
});
