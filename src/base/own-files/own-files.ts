/** The file system, for paths that nobody but this program controls. */
import { mkdir } from 'node:fs/promises';

export { createReadStream, createWriteStream, type Dirent, type FSWatcher, type Stats, watch } from 'node:fs';
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

/** Creates a directory with those around it. Returns whether it is new. */
export async function makeDirectory(path: string, mode: number): Promise<boolean> {
  return (await mkdir(path, { recursive: true, mode })) !== undefined;
}
