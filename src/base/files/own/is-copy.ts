import { stat } from 'node:fs/promises';

/** Reports whether a directory is a copy: the one that a file in it was written in is another, and still there. A move is no copy. */
export async function isCopy(directory: string, writtenIn: string): Promise<boolean> {
  const [here, original] = await Promise.all([directory, writtenIn].map((path) => stat(path).catch(() => undefined)));
  return original !== undefined && (original.ino !== here?.ino || original.dev !== here.dev);
}
