/**
 * Flags of the mounts that sources of bind mounts are on. In a user namespace, the kernel lets nobody take such a flag away: a mount
 * that adds one has to name those that it has already.
 */

const LOCKED = ['nosuid', 'nodev', 'noexec', 'ro', 'noatime', 'nodiratime'];

/** Mount points and their options, as `/proc/self/mountinfo` lists them. */
export type MountFlags = readonly { readonly point: string; readonly flags: readonly string[] }[];

export function parseMountInfo(text: string): MountFlags {
  return text.split('\n').flatMap((line) => {
    const fields = line.split(' ');
    const [point, options] = [fields[4], fields[5]];
    if (point === undefined || options === undefined) return [];
    return [{ point: unescaped(point), flags: options.split(',').filter((option) => LOCKED.includes(option)) }];
  });
}

/** The flags of the mount that a path is on: the innermost one, and of several on one point the last. */
export function flagsAt(mounts: MountFlags, path: string): readonly string[] {
  let found: MountFlags[number] | undefined;
  for (const mount of mounts)
    if (isBelow(mount.point, path) && mount.point.length >= (found?.point.length ?? 0)) found = mount;
  return found?.flags ?? [];
}

function isBelow(point: string, path: string): boolean {
  return point === '/' || path === point || path.startsWith(`${point}/`);
}

/** Spaces, tabs, line breaks and backslashes are written as octal numbers. */
function unescaped(text: string): string {
  return text.replace(/\\([0-7]{3})/g, (_, digits: string) => String.fromCharCode(Number.parseInt(digits, 8)));
}
