/**
 * A limit that an older version leaves out to mean "none". The newer versions always fill the field in, and use the
 * largest int32 for the same.
 */
import type { KubeObject } from '../kind.ts';

export const UNLIMITED = 2 ** 31 - 1;

export interface Limited extends KubeObject {
  spec: Record<string, unknown>;
}

/** Sets these fields of `spec` to the largest number where they are absent. */
export function absentToUnlimited(object: Limited, fields: readonly string[]): Limited {
  const spec = { ...object.spec };
  for (const field of fields) spec[field] ??= UNLIMITED;
  return { ...object, spec };
}

/** Removes these fields of `spec` where they are the largest number. */
export function unlimitedToAbsent(object: Limited, fields: readonly string[]): Limited {
  const spec = { ...object.spec };
  for (const field of fields) if (spec[field] === UNLIMITED) delete spec[field];
  return { ...object, spec };
}
