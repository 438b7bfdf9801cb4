import { lstat, opendir, rmdir, unlink } from 'node:fs/promises';
import { join } from 'node:path';

/** Directories that are noted of one directory before they are removed. */
const MAX_NOTED = 1_000;
/** Of a directory that is not empty after its files were removed, because others are still made. */
const MAX_ATTEMPTS = 3;

/**
 * Removes a file, or a directory with everything in it, one entry after the other; nothing happens if there is none. Node's `rm`
 * begins with all entries of a directory at once: a program that makes 200,000 files would block the event loop for seconds.
 */
export async function removeTree(path: string): Promise<void> {
  const found = await lstat(path).catch(ignoreMissing);
  if (!found) return;
  if (!found.isDirectory()) return unlink(path).catch(ignoreMissing);
  const open = [{ path, attempts: 0 }];
  for (let current = open.at(-1); current; current = open.at(-1)) {
    const inner = await removeFiles(current.path);
    if (inner.length > 0) {
      for (const each of inner) open.push({ path: each, attempts: 0 });
      continue;
    }
    try {
      await rmdir(current.path).catch(ignoreMissing);
      open.pop();
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOTEMPTY' || ++current.attempts >= MAX_ATTEMPTS) throw error;
    }
  }
}

/** Removes what is no directory, and returns the directories. Links are not followed. */
async function removeFiles(directory: string): Promise<string[]> {
  const inner: string[] = [];
  const entries = await opendir(directory).catch(ignoreMissing);
  if (!entries) return inner;
  for await (const entry of entries) {
    const path = join(directory, entry.name);
    if (!entry.isDirectory()) await unlink(path).catch(ignoreMissing);
    else if (inner.push(path) >= MAX_NOTED) break;
  }
  return inner;
}

function ignoreMissing(error: NodeJS.ErrnoException): undefined {
  if (error.code !== 'ENOENT') throw error;
}
