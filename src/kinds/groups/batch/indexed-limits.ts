/** Size limits of indexed Jobs, which keep their lists of indexes small enough for the status. */
import { addAll } from '../../../base/collections/add-all.ts';
import { type FieldError, invalid, required } from '../../../schema/field-error.ts';
import type { Rule } from '../../../schema/schema.ts';

const MAX_PARALLELISM = 100_000;
const MAX_FAILED_INDEXES = 100_000;
/** Number of completions above which a Job with backoffLimitPerIndex has lower limits. */
const LARGE_JOB_COMPLETIONS = 100_000;
const MAX_PARALLELISM_OF_LARGE_JOB = 10_000;
const MAX_FAILED_INDEXES_OF_LARGE_JOB = 10_000;

/** Fields that the limits depend on. */
export interface IndexedSpec {
  readonly completionMode?: string;
  readonly completions?: number;
  readonly parallelism?: number;
  readonly maxFailedIndexes?: number;
  readonly backoffLimitPerIndex?: number;
}

/** Checks the limits in a Job's spec that depend on its completion mode. */
export const indexedLimits: Rule<IndexedSpec> = (spec) => {
  const found: FieldError[] = [];
  if (spec.maxFailedIndexes !== undefined && spec.backoffLimitPerIndex === undefined) {
    found.push(required('backoffLimitPerIndex', 'when maxFailedIndexes is specified'));
  }
  if (spec.completionMode === 'Indexed') return [...found, ...indexed(spec)];
  for (const field of ['backoffLimitPerIndex', 'maxFailedIndexes'] as const) {
    if (spec[field] !== undefined) found.push(invalid(field, spec[field], 'requires indexed completion mode'));
  }
  return found;
};

function indexed(spec: IndexedSpec): FieldError[] {
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
  if ((completions ?? 0) > LARGE_JOB_COMPLETIONS && backoffLimitPerIndex !== undefined) addAll(found, largeJob(spec));
  return found;
}

function largeJob({ parallelism = 0, maxFailedIndexes }: IndexedSpec): FieldError[] {
  const found: FieldError[] = [];
  const atMost = (limit: number) =>
    `must be less than or equal to ${limit} when completions are above ${LARGE_JOB_COMPLETIONS} and used with backoff limit per index`;
  if (maxFailedIndexes === undefined) {
    found.push(required('maxFailedIndexes', `must be specified when completions is above ${LARGE_JOB_COMPLETIONS}`));
  }
  if (parallelism > MAX_PARALLELISM_OF_LARGE_JOB) {
    found.push(invalid('parallelism', parallelism, atMost(MAX_PARALLELISM_OF_LARGE_JOB)));
  }
  if ((maxFailedIndexes ?? 0) > MAX_FAILED_INDEXES_OF_LARGE_JOB) {
    found.push(invalid('maxFailedIndexes', maxFailedIndexes, atMost(MAX_FAILED_INDEXES_OF_LARGE_JOB)));
  }
  return found;
}
