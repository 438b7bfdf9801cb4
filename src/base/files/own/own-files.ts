/** File operations on paths that only this program controls. */

import { chmod } from 'node:fs/promises';
import { dirname } from 'node:path';
import { makeDirectories } from './make-directories.ts';

export {
  closeSync,
  createReadStream,
  createWriteStream,
  type Dirent,
  type FSWatcher,
  openSync,
  type Stats,
  watch,
} from 'node:fs';
export {
  chmod,
  chown,
  type FileHandle,
  lchown,
  lstat,
  mkdir,
  mkdtemp,
  open,
  readdir,
  readFile,
  readlink,
  rename,
  rm,
  rmdir,
  stat,
  statfs,
  symlink,
  unlink,
  writeFile,
} from 'node:fs/promises';

/** Creates a directory and its missing parents, regardless of the umask. Returns whether it is new. */
export async function makeDirectory(path: string, mode: number): Promise<boolean> {
  const first = await makeDirectories(path, mode);
  if (first === undefined) return false;
  for (let made = path; made.length >= first.length; made = dirname(made)) await chmod(made, mode);
  return true;
}
