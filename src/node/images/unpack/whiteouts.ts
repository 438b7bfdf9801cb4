/** Deletions in a layer: `.wh.NAME` deletes NAME, `.wh..wh..opq` everything in its directory, of the layers below. */
import { readdir } from 'node:fs/promises';
import { join, posix } from 'node:path';
import { removeTree } from '../../../base/files-inside/remove-tree.ts';
import { RuntimeError } from '../../runtime/errors.ts';
import type { RootDirectory } from './root-directory.ts';

const PREFIX = '.wh.';
/** Other names with the double prefix are notes of AUFS to itself. */
const OPAQUE = '.wh..wh..opq';
const NOTE = '.wh..wh.';

export function isWhiteout(path: string): boolean {
  return posix.basename(path).startsWith(PREFIX);
}

export async function applyWhiteout(root: RootDirectory, path: string): Promise<void> {
  const name = posix.basename(path);
  if (name === OPAQUE) return empty(root, path);
  if (name.startsWith(NOTE)) return;
  const deleted = name.slice(PREFIX.length);
  if (deleted === '' || deleted === '.' || deleted === '..') {
    throw new RuntimeError('Unknown', `the image deletes ${JSON.stringify(deleted)}, which is not a name`);
  }
  const found = await root.find(join(posix.dirname(path), deleted));
  if (found !== undefined) await removeTree(found);
  root.changed();
}

async function empty(root: RootDirectory, path: string): Promise<void> {
  const marker = await root.find(path);
  if (marker === undefined) return;
  const directory = join(marker, '..');
  for (const name of await readdir(directory)) await removeTree(join(directory, name));
  root.changed();
}
