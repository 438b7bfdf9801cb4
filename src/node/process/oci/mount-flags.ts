/**
 * Flags of the mounts that sources of bind mounts are on. In a user namespace, the kernel lets nobody take such a flag away: a mount
 * that adds one has to name those that it has already.
 */

const LOCKED = ['nosuid', 'nodev', 'noexec', 'ro', 'noatime', 'nodiratime'];

interface MountEntry {
  readonly point: string;
  readonly flags: readonly string[];
  /** True when mounts below it propagate to other mount namespaces. */
  readonly isShared: boolean;
}

/** Mount points and their options, as `/proc/self/mountinfo` lists them. */
export type MountFlags = readonly MountEntry[];

export function parseMountInfo(text: string): MountFlags {
  return text.split('\n').flatMap((line) => {
    const fields = line.split(' ');
    const [point, options] = [fields[4], fields[5]];
    if (point === undefined || options === undefined) return [];
    const flags = options.split(',').filter((option) => LOCKED.includes(option));
    const isShared = fields.slice(6, fields.indexOf('-', 6)).some((field) => field.startsWith('shared:'));
    return [{ point: unescaped(point), flags, isShared }];
  });
}

/** The mount that a path is on: the innermost one, and of several on one point the last. */
export function mountAt(mounts: MountFlags, path: string): MountEntry | undefined {
  let found: MountEntry | undefined;
  for (const mount of mounts)
    if (isBelow(mount.point, path) && mount.point.length >= (found?.point.length ?? 0)) found = mount;
  return found;
}

function isBelow(point: string, path: string): boolean {
  return point === '/' || path === point || path.startsWith(`${point}/`);
}

/** Spaces, tabs, line breaks and backslashes are written as octal numbers. */
function unescaped(text: string): string {
  return text.replace(/\\([0-7]{3})/g, (_, digits: string) => String.fromCharCode(Number.parseInt(digits, 8)));
}
