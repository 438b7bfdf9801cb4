/** Reads /proc/self/mountinfo. */

export interface MountEntry {
  /** Absolute. */
  readonly mountPoint: string;
  readonly type: string;
  readonly source: string;
  readonly isReadOnly: boolean;
}

/** Parses mounts in the order of mounting: later ones may hide earlier ones. */
export function parseMountInfo(text: string): MountEntry[] {
  return text.split('\n').flatMap((line) => {
    const fields = line.split(' ');
    const separator = fields.indexOf('-', 6);
    if (separator < 0) return [];
    return [
      {
        mountPoint: unescaped(fields[4] ?? ''),
        type: fields[separator + 1] ?? '',
        source: unescaped(fields[separator + 2] ?? ''),
        isReadOnly: (fields[5] ?? '').split(',').includes('ro'),
      },
    ];
  });
}

/** Blanks, tabs, newlines and backslashes are written in octal, byte by byte. */
function unescaped(text: string): string {
  return text.replace(/\\([0-7]{3})/g, (_, octal) => String.fromCharCode(Number.parseInt(octal, 8)));
}

/** The mount points at or below a directory, the newest first, which is the order to unmount them in. */
export function mountPointsBelow(entries: readonly MountEntry[], directory: string): string[] {
  return entries
    .map(({ mountPoint }) => mountPoint)
    .filter((point) => point === directory || point.startsWith(`${directory}/`))
    .reverse();
}
