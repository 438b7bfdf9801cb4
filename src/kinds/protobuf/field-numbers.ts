/**
 * Fields by group version, then by shape, in the order of their numbers, which count from 1. `9:paused` continues from
 * nine. The zero value of `replicas?` is distinct from absent. `.VolumeSource` is an embedded message whose fields
 * belong to the shape itself.
 */
export type FieldNumbers = Readonly<Record<string, Readonly<Record<string, string>>>>;

/** Field of a message. */
export interface NumberedField {
  readonly number: number;
  readonly name: string;
  /** True when zero, false and the empty string are values; otherwise clients send them for fields that are not set. */
  readonly keepsZero: boolean;
  /** The name is that of an embedded shape, whose fields belong to this one. */
  readonly isInline: boolean;
}

export function parseFields(line: string): NumberedField[] {
  let number = 0;
  return line.split(' ').flatMap((word) => {
    const [, given, inline, name, keeps] = /^(?:(\d+):)?(\.?)([\w$-]+)(\??)$/.exec(word) ?? [];
    if (!name) return [];
    number = given ? Number(given) : number + 1;
    return [{ number, name, keepsZero: keeps === '?', isInline: inline === '.' }];
  });
}
