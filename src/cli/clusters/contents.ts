/** Files that qd creates in a data directory, and their removal. Files that others put there are left alone. */
import { lstat, readdir, rm, rmdir } from 'node:fs/promises';
import { join } from 'node:path';
import { isOwnFile } from '../up/directory/own-files.ts';

/** The lock goes last, when nobody may start the cluster any more; before it the file that makes it a data directory. */
const LAST_NAMES: readonly string[] = ['cluster.json', 'lock'];

/** Reports whether a directory without cluster.json is left over from a failed first start: others made nothing in it. */
export async function isUnfinished(directory: string): Promise<boolean> {
  const names = await readdir(directory);
  return names.includes('pki') && names.every(isOwnFile);
}

/** Removes everything but the lock. Resolves with the names that are left because qd did not create them. */
export async function removeContents(directory: string): Promise<readonly string[]> {
  const names = await readdir(directory);
  const own = names.filter((name) => isOwnFile(name) && !LAST_NAMES.includes(name));
  for (const name of [...own, 'cluster.json']) await rm(join(directory, name), { recursive: true, force: true });
  return names.filter((name) => !isOwnFile(name)).sort();
}

/** Files of a store in a directory that --store-dir named. */
const STORE_FILE = /^(format|format\.new|data\.mdb|data\.mdb-lock|copied|lock(\..+)?)$/;

/** Removes a store outside of the data directory, and its directory when nothing else is in it. */
export async function removeStore(directory: string): Promise<void> {
  const names = await readdir(directory).catch((): string[] => []);
  if (!names.includes('format')) return;
  for (const name of names.filter((each) => STORE_FILE.test(each))) await rm(join(directory, name), { force: true });
  await removeDirectory(directory, directory);
}

/** Removes the directory if it is empty, and the symbolic link that led to it, if any. */
export async function removeDirectory(path: string, target: string): Promise<void> {
  try {
    await rmdir(target);
  } catch (error) {
    // Somebody has put something there meanwhile, or may remove its content and not itself.
    if (!['ENOTEMPTY', 'EEXIST', 'EACCES', 'EPERM', 'EBUSY'].includes((error as NodeJS.ErrnoException).code ?? ''))
      throw error;
    return;
  }
  if (path !== target && (await lstat(path).catch(() => undefined))?.isSymbolicLink()) await rm(path);
}
