/** How large a Job may be whose pods are numbered, so that the numbers that are done still fit into its status. */
import type { FieldError } from '../../../schema/field-error.ts';
import { invalid, required } from '../../../schema/field-error.ts';
import type { Rule } from '../../../schema/schema.ts';

const MAX_PARALLELISM = 100_000;
const MAX_FAILED_INDEXES = 100_000;
/** From here on, and with a limit of failures for each index, less may run and fail. */
const MANY_COMPLETIONS = 100_000;
const MAX_PARALLELISM_OF_MANY = 10_000;
const MAX_FAILED_INDEXES_OF_MANY = 10_000;

/** On a Job's spec. */
export const indexedLimits: Rule = (spec) => {
  const found: FieldError[] = [];
  if (spec.maxFailedIndexes !== undefined && spec.backoffLimitPerIndex === undefined) {
    found.push(required('backoffLimitPerIndex', 'when maxFailedIndexes is specified'));
  }
  if (spec.completionMode === 'Indexed') return [...found, ...indexed(spec)];
  for (const field of ['backoffLimitPerIndex', 'maxFailedIndexes']) {
    if (spec[field] !== undefined) found.push(invalid(field, spec[field], 'requires indexed completion mode'));
  }
  return found;
};

function indexed(spec: any): FieldError[] {
  const { completions, parallelism = 0, maxFailedIndexes = 0, backoffLimitPerIndex } = spec;
  const found: FieldError[] = [];
  if (completions === undefined) found.push(required('completions', 'when completion mode is Indexed'));
  if (parallelism > MAX_PARALLELISM) {
    const words = `must be less than or equal to ${MAX_PARALLELISM} when completion mode is Indexed`;
    found.push(invalid('parallelism', parallelism, words));
  }
  if (completions !== undefined && maxFailedIndexes > completions) {
    found.push(invalid('maxFailedIndexes', maxFailedIndexes, 'must be less than or equal to completions'));
  }
  if (maxFailedIndexes > MAX_FAILED_INDEXES) {
    found.push(invalid('maxFailedIndexes', maxFailedIndexes, `must be less than or equal to ${MAX_FAILED_INDEXES}`));
  }
  if (completions > MANY_COMPLETIONS && backoffLimitPerIndex !== undefined) found.push(...ofMany(spec));
  return found;
}

function ofMany({ parallelism = 0, maxFailedIndexes }: any): FieldError[] {
  const found: FieldError[] = [];
  const atMost = (limit: number) =>
    `must be less than or equal to ${limit} when completions are above ${MANY_COMPLETIONS} and used with backoff limit per index`;
  if (maxFailedIndexes === undefined) {
    found.push(required('maxFailedIndexes', `must be specified when completions is above ${MANY_COMPLETIONS}`));
  }
  if (parallelism > MAX_PARALLELISM_OF_MANY) {
    found.push(invalid('parallelism', parallelism, atMost(MAX_PARALLELISM_OF_MANY)));
  }
  if (maxFailedIndexes > MAX_FAILED_INDEXES_OF_MANY) {
    found.push(invalid('maxFailedIndexes', maxFailedIndexes, atMost(MAX_FAILED_INDEXES_OF_MANY)));
  }
  return found;
}
