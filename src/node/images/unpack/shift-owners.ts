/** Gives every file below a directory the owner that it has in a user namespace. */
import { chmod, lchown, lstat, opendir } from 'node:fs/promises';
import { join } from 'node:path';

const PERMISSIONS = 0o7777;
const SETUID_OR_SETGID = 0o6000;

/**
 * Adds `base` to the ids of all files. Nobody else may change the tree meanwhile. Links are not followed: a directory is entered only
 * by a name that was just seen to be one.
 */
export async function shiftOwners(path: string, base: number): Promise<void> {
  const { uid, gid, mode } = await lstat(path);
  const kind = mode & 0o170000;
  await lchown(path, base + uid, base + gid);
  // Changing the owner clears these.
  if (kind === 0o100000 && mode & SETUID_OR_SETGID) await chmod(path, mode & PERMISSIONS);
  if (kind !== 0o040000) return;
  for await (const { name } of await opendir(path)) await shiftOwners(join(path, name), base);
}
