/** Gives every file below a directory the owner that it has in a user namespace. */
import { changeTree } from '../../../base/files/inside/change-tree.ts';

const PERMISSIONS = 0o7777;
const SETUID_OR_SETGID = 0o6000;

/** Adds `base` to the ids of all files. */
export async function shiftOwners(path: string, base: number): Promise<void> {
  await changeTree(path, (found) => ({
    uid: base + found.uid,
    gid: base + found.gid,
    // Changing the owner of a file clears these.
    mode: found.isFile() && found.mode & SETUID_OR_SETGID ? found.mode & PERMISSIONS : undefined,
  }));
}
