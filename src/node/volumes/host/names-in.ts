import { readdir } from '../../../base/files/own/own-files.ts';

/** Lists the names in a directory; empty for one that does not exist. */
export async function namesIn(directory: string): Promise<string[]> {
  return readdir(directory).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return [];
    throw error;
  });
}
