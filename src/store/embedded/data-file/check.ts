import { open } from 'node:fs/promises';
import { StoreFormat, StoreTorn } from '../errors.ts';
import { type Contents, checkContents } from './contents.ts';
import { hasMagic, type Meta, readMeta } from './meta.ts';
import { checkLength } from './structure.ts';

/**
 * Checks a data file, possibly embedded in a file from `start` on, without LMDB. Damaged values are in the result.
 * Rejects with StoreTorn when the file cannot be used at all, and with StoreFormat when it is some other file.
 */
export async function checkDataFile(path: string, start = 0): Promise<Contents> {
  return inspect(path, start, (file) => checkContents({ file, start }, stableMeta(file, start)));
}

/** Checks only the meta pages, which LMDB reads when it opens a file, before any of its tables. */
export async function checkMetaPages(path: string): Promise<void> {
  await inspect(path, 0, (file) => checkLength({ file, start: 0 }, stableMeta(file, 0)));
}

async function inspect<T>(path: string, start: number, check: (file: number) => T): Promise<T> {
  const handle = await open(path, 'r');
  try {
    return check(handle.fd);
  } catch (cause) {
    if (isSystemError(cause)) throw cause;
    if ((await handle.stat()).size === 0)
      throw new StoreTorn(`${path} is empty: the data of the store is lost`, { cause });
    if (!hasMagic(handle.fd, start)) throw new StoreFormat(`${path} is not the data file of a store`, { cause });
    throw new StoreTorn(`${path} is damaged: ${(cause as Error).message}`, { cause });
  } finally {
    await handle.close();
  }
}

/** Attempts to read the meta pages between two writes of another process. */
const META_ATTEMPTS = 10;

function stableMeta(file: number, start: number): Meta {
  for (let attempt = 1; ; attempt++) {
    try {
      return readMeta(file, start);
    } catch (error) {
      if (attempt === META_ATTEMPTS) throw error;
    }
  }
}

/** An error of the disk, as opposed to damaged data. */
function isSystemError(error: unknown): boolean {
  return (error as NodeJS.ErrnoException).syscall !== undefined;
}
