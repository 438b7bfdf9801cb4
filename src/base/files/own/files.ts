import { open, readFile, rename, rmdir } from 'node:fs/promises';
import { dirname } from 'node:path';

/** Replaces a file atomically and durably: after a crash it is the old one or the new one. Only its owner may read it. */
export async function writeWhole(file: string, content: string): Promise<void> {
  const next = `${file}.${process.pid}.tmp`;
  const handle = await open(next, 'w', 0o600);
  try {
    await handle.writeFile(content);
    await handle.sync();
  } finally {
    await handle.close();
  }
  await rename(next, file);
}

/** Makes new entries of a directory durable. */
export async function syncDirectory(directory: string): Promise<void> {
  const handle = await open(directory, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** Returns the text of a file, or undefined when it does not exist. */
export async function readIfThere(file: string): Promise<string | undefined> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
}

/** ESRCH is the error for a file in /proc whose process has ended. */
function isMissing(error: unknown): boolean {
  return ['ENOENT', 'ESRCH'].includes((error as NodeJS.ErrnoException).code ?? '');
}

/** Removes directories from `path` up to `top`, as far as they are empty. */
export async function removeEmptyDirectories(path: string, top: string): Promise<void> {
  try {
    for (let directory = path; ; directory = dirname(directory)) {
      await rmdir(directory);
      if (directory === top) return;
    }
  } catch {
    // It has files, and stays.
  }
}
