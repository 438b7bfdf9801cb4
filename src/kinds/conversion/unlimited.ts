/**
 * A limit that an older version leaves out to mean "none". The newer versions always fill the field in, and say the same
 * with the largest number it can hold.
 */
export const UNLIMITED = 2 ** 31 - 1;

/** For these fields of `spec`: absent becomes the largest number. */
export function absentToUnlimited(object: any, fields: readonly string[]): any {
  const spec = { ...object.spec };
  for (const field of fields) spec[field] ??= UNLIMITED;
  return { ...object, spec };
}

/** And back. */
export function unlimitedToAbsent(object: any, fields: readonly string[]): any {
  const spec = { ...object.spec };
  for (const field of fields) if (spec[field] === UNLIMITED) delete spec[field];
  return { ...object, spec };
}
