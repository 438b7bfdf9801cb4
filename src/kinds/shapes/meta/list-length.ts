import { tooMany } from '../../../schema/field-error.ts';
import type { Rule } from '../../../schema/schema.ts';

/** On a list. */
export const atMost =
  (limit: number): Rule<readonly unknown[]> =>
  (items) =>
    items.length > limit ? tooMany('', items.length, limit) : undefined;
