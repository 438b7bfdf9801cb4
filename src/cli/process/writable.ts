/** Finds out whether files and directories could be written, without writing anything. */
import { constants } from 'node:fs';
import { access, stat } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { CliError } from '../output/cli-error.ts';

/** Throws when the file that `flag` names could be neither changed nor created, its folders included. */
export async function checkWritableFile(flag: string, file: string): Promise<void> {
  await check(flag, resolve(file), 'file');
}

/** The same for a directory. */
export async function checkWritableDirectory(flag: string, directory: string): Promise<void> {
  await check(flag, resolve(directory), 'directory');
}

/** Throws when the file could not be created or replaced in its folder, which must exist. `what` names the file. */
export async function checkNewFile(what: string, file: string): Promise<void> {
  await checkWritableFile(what, file);
  const folder = dirname(resolve(file));
  if (!(await statIfThere(folder))) throw new CliError(`${what} ${file} cannot be written: ${folder} does not exist`);
}

async function check(flag: string, path: string, expected: 'file' | 'directory'): Promise<void> {
  const reject = (why: string) => new CliError(`${flag} ${path} cannot be written: ${why}`);
  const found = await statIfThere(path);
  if (found?.isDirectory() && expected === 'file') throw reject('it is a directory');
  if (found && !found.isDirectory() && expected === 'directory') throw reject('it is not a directory');
  const present = found ? path : await nearestAncestor(path);
  if (!found && !(await stat(present)).isDirectory()) throw reject(`${present} is not a directory`);
  await access(present, constants.W_OK).catch(() => {
    throw reject(`no permission to write ${present}`);
  });
}

async function nearestAncestor(path: string): Promise<string> {
  let ancestor = dirname(path);
  while (!(await statIfThere(ancestor))) ancestor = dirname(ancestor);
  return ancestor;
}

async function statIfThere(path: string) {
  try {
    return await stat(path);
  } catch (error) {
    if (['ENOENT', 'ENOTDIR'].includes((error as NodeJS.ErrnoException).code ?? '')) return undefined;
    throw error;
  }
}
