/** A number of pods, or a percentage of them. */
import { invalid } from '../../../schema/field-error.ts';
import { percent } from '../../../schema/names.ts';
import type { Rule } from '../../../schema/schema.ts';

export type IntOrPercent = number | string;

/** The number without its unit: a count or a percentage; 0 for any other text. */
export function magnitude(value: IntOrPercent | undefined): number {
  if (typeof value === 'number') return value;
  return value && percent(value).length === 0 ? Number(value.slice(0, -1)) : 0;
}

/** A non-negative integer, or a percentage. */
export const countOrPercent: Rule<IntOrPercent> = (value) => {
  if (typeof value === 'string') return percent(value).map((complaint) => invalid('', value, complaint));
  return value < 0 ? invalid('', value, 'must be greater than or equal to 0') : undefined;
};

export const notMoreThanAll: Rule<IntOrPercent> = (value) =>
  typeof value === 'string' && magnitude(value) > 100 ? invalid('', value, 'must not be greater than 100%') : undefined;
