/** Deletions in a layer: `.wh.NAME` deletes NAME, `.wh..wh..opq` everything in its directory, of the layers below. */
import { join, posix } from 'node:path';
import { removeFrom } from '../../../base/files/inside/remove-tree.ts';
import { RuntimeError } from '../../runtime/errors.ts';
import type { RootDirectory } from './root-directory.ts';

const PREFIX = '.wh.';
/** Name of the marker for opaque directories. Other names with the double prefix are notes of AUFS to itself. */
const OPAQUE = '.wh..wh..opq';
const NOTE = '.wh..wh.';

export function isWhiteout(path: string): boolean {
  return posix.basename(path).startsWith(PREFIX);
}

export async function applyWhiteout(root: RootDirectory, path: string): Promise<void> {
  const name = posix.basename(path);
  if (name !== OPAQUE && name.startsWith(NOTE)) return;
  const deleted = name.slice(PREFIX.length);
  if (deleted === '' || deleted === '.' || deleted === '..') {
    throw new RuntimeError('Unknown', `the image deletes ${JSON.stringify(deleted)}, which is not a name`);
  }
  const found = await root.find(name === OPAQUE ? path : join(posix.dirname(path), deleted));
  if (!found) return;
  const { directory } = found;
  try {
    if (name !== OPAQUE) await removeFrom(directory, found.name);
    else for await (const entry of await directory.entries()) await removeFrom(directory, entry.name);
  } finally {
    await directory.close();
  }
  await root.changed();
}
