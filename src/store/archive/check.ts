import { open } from 'node:fs/promises';
import { readMeta } from '../embedded/data-file/meta.ts';
import { checkStructure, VERSIONED } from '../embedded/data-file/structure.ts';
import { StoreTorn } from '../embedded/errors.ts';

/** Checks the structure of an archive that is not in use: LMDB follows the pointers of a damaged page out of the file. */
export async function checkArchiveFile(path: string): Promise<void> {
  const handle = await open(path, 'r');
  const visit = () => undefined;
  try {
    checkStructure({ file: handle.fd, start: 0 }, readMeta(handle.fd, 0), {
      meta: { flags: VERSIONED, visit },
      log: { flags: 0, visit },
      index: { flags: 0, visit },
      origins: { flags: 0, visit },
    });
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).syscall !== undefined) throw cause;
    throw new StoreTorn(`${path} is damaged: ${(cause as Error).message}`, { cause });
  } finally {
    await handle.close();
  }
}
