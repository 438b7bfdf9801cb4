import { constants } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';

/** A link could lead to any file of the node, and opening a pipe would wait for a writer, in one of the few threads for files. */
const FLAGS = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;

/** Opens a file whose directory somebody else may write to. Undefined when there is none, or when it is no file. */
export async function openFile(path: string): Promise<FileHandle | undefined> {
  let handle: FileHandle;
  try {
    handle = await open(path, FLAGS);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ELOOP' || code === 'ENXIO') return undefined;
    throw error;
  }
  if ((await handle.stat()).isFile()) return handle;
  await handle.close();
  return undefined;
}
