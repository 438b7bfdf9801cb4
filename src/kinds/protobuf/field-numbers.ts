/**
 * By version, then by shape: its fields in the order of their numbers, which count from 1. `9:paused` goes on from nine.
 * `replicas?` may be sent as zero, which is not the same as absent. `.VolumeSource` is a message whose fields stand
 * among those of the shape itself.
 */
export type FieldNumbers = Readonly<Record<string, Readonly<Record<string, string>>>>;

/** One field of a message. */
export interface NumberedField {
  readonly number: number;
  readonly name: string;
  /** Whether zero, false and the empty text are values; else they are what a client writes for a field it did not set. */
  readonly keepsZero: boolean;
  /** The name is that of a shape, whose fields stand among the others. */
  readonly isInline: boolean;
}

export function parseFields(line: string): NumberedField[] {
  let number = 0;
  return line.split(' ').flatMap((word) => {
    const [, given, inline, name, keeps] = /^(?:(\d+):)?(\.?)(\w+)(\??)$/.exec(word) ?? [];
    if (!name) return [];
    number = given ? Number(given) : number + 1;
    return [{ number, name, keepsZero: keeps === '?', isInline: inline === '.' }];
  });
}
