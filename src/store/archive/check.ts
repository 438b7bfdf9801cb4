import { open } from 'node:fs/promises';
import { setImmediate as turn } from 'node:timers/promises';
import { readMeta } from '../embedded/data-file/meta.ts';
import { structureSteps, VERSIONED } from '../embedded/data-file/structure.ts';
import { StoreTorn } from '../embedded/errors.ts';

/** Pages that are checked in one turn of the event loop: about two milliseconds. */
const PAGES_PER_TURN = 256;

/** Checks the structure of an archive that is not in use: LMDB follows the pointers of a damaged page out of the file. */
export async function checkArchiveFile(path: string): Promise<void> {
  const handle = await open(path, 'r');
  const visit = () => undefined;
  try {
    const steps = structureSteps({ file: handle.fd, start: 0 }, readMeta(handle.fd, 0), {
      meta: { flags: VERSIONED, visit },
      log: { flags: 0, visit },
      index: { flags: 0, visit },
      origins: { flags: 0, visit },
    });
    let pages = 0;
    while (!steps.next().done) if (++pages % PAGES_PER_TURN === 0) await turn();
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).syscall !== undefined) throw cause;
    throw new StoreTorn(`${path} is damaged: ${(cause as Error).message}`, { cause });
  } finally {
    await handle.close();
  }
}
