/**
 * Limits for tracked fields. Every write compares and sorts them without a pause, which takes about 10 µs for each of
 * them.
 */
import { ApiError } from '../../../api/errors.ts';
import type { Version } from '../../../kinds/kind.ts';
import { afterElements, hasMoreFields } from '../../../schema/fields/count.ts';
import type { FieldSet } from '../../../schema/fields/field-set.ts';

/** Limit for an object. A larger one has no managers, as if a client had removed them, and cannot be applied to. */
const MAX_OBJECT_FIELDS = 10_000;
/** Limit for all managers of an object together: those that apply may own the same fields. */
const MAX_MANAGED_FIELDS = 15_000;

export function isTracked(version: Version, object: unknown): boolean {
  return !hasMoreFields(version.schema, object, MAX_OBJECT_FIELDS);
}

/** Throws when there are too many fields in an object, or in a configuration, for an apply. */
export function checkApplicable(version: Version, tree: unknown): void {
  if (isTracked(version, tree)) return;
  throw tooLarge(`an object with more than ${MAX_OBJECT_FIELDS} fields cannot be applied: update it instead`);
}

/** Throws when the managers of an object own too many fields for an apply. */
export function checkManaged(sets: Iterable<FieldSet>): void {
  if (areManageable(sets)) return;
  throw tooLarge(`the managers of an object own at most ${MAX_MANAGED_FIELDS} fields together`);
}

export function areManageable(sets: Iterable<FieldSet>): boolean {
  let left = MAX_MANAGED_FIELDS;
  for (const set of sets) left = left < 0 ? left : afterElements(set, left);
  return left >= 0;
}

const tooLarge = (message: string) => new ApiError('RequestEntityTooLarge', `Request entity too large: ${message}`);
