/**
 * Remembers the data directories that were given with --data-dir, so that `qd list` shows them: a symbolic link for each in
 * `~/.quarterdeck/.elsewhere`. Links need no lock, and one whose directory is gone says so itself.
 */

import { createHash } from 'node:crypto';
import { readdir, readlink, rm, stat, symlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { makeDirectories } from '../../../base/files/own/make-directories.ts';

const folderIn = (home: string) => join(home, '.elsewhere');
const linkOf = (home: string, directory: string) =>
  join(folderIn(home), createHash('sha256').update(directory).digest('hex').slice(0, 16));

/** Remembers a directory, and forgets those that are gone. One directly below `home` is found without it. */
export async function rememberElsewhere(home: string, directory: string): Promise<void> {
  if (dirname(directory) === home) return;
  const link = linkOf(home, directory);
  if ((await readlink(link).catch(() => undefined)) === directory) return;
  await findElsewhere(home);
  await makeDirectories(folderIn(home), 0o700);
  await rm(link, { force: true });
  await symlink(directory, link);
}

/** Returns the remembered directories that still exist, and forgets the others. */
export async function findElsewhere(home: string): Promise<readonly string[]> {
  const names = await readdir(folderIn(home)).catch((): string[] => []);
  const found = await Promise.all(
    names.map(async (name) => {
      const link = join(folderIn(home), name);
      try {
        const directory = await readlink(link);
        if (await isGone(directory)) await rm(link, { force: true });
        else return directory;
      } catch {
        // Not a link, or not ours to remove.
      }
      return undefined;
    }),
  );
  return found.filter((directory) => directory !== undefined).sort();
}

export async function forgetElsewhere(home: string, directory: string): Promise<void> {
  await rm(linkOf(home, directory), { force: true });
}

async function isGone(directory: string): Promise<boolean> {
  const error = await stat(directory).then(
    () => undefined,
    (reason: NodeJS.ErrnoException) => reason,
  );
  return error?.code === 'ENOENT' || error?.code === 'ENOTDIR';
}
