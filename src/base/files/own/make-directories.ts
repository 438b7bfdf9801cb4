/**
 * Creates directories and their missing parents. Node's own recursive mkdir tries forever in file systems such as
 * /proc, where a directory cannot be created although its parent exists.
 */
import { mkdirSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';

const DEFAULT_MODE = 0o777;

/** Returns the topmost directory that was created; undefined when all existed. */
export function makeDirectoriesSync(path: string, mode = DEFAULT_MODE): string | undefined {
  const target = resolve(path);
  const missing = [target];
  for (let folder = dirname(target); !found(folder); folder = dirname(folder)) missing.push(folder);
  let first: string | undefined;
  for (const folder of missing.reverse()) if (makeOne(folder, mode)) first ??= folder;
  return first;
}

/** The asynchronous form, with failures as rejections. */
export async function makeDirectories(path: string, mode = DEFAULT_MODE): Promise<string | undefined> {
  return makeDirectoriesSync(path, mode);
}

const found = (path: string) => statSync(path, { throwIfNoEntry: false });

/** Creates one directory, and returns whether it is new. Another process may create it at the same time. */
function makeOne(path: string, mode: number): boolean {
  try {
    mkdirSync(path, mode);
    return true;
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    // On a read-only file system, an existing directory is enough.
    if (code !== 'ENOENT' && found(path)?.isDirectory()) return false;
    if (code !== 'ENOENT') throw cause;
    throw new Error(`${path} cannot be created: ${dirname(path)} takes no directories`, { cause });
  }
}
