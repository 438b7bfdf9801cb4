/** Applies a layer to a directory. */
import { chmod, lchown, link, lstat, lutimes, mkdir, open, rm, symlink } from 'node:fs/promises';
import { removeTree } from '../../../base/files-inside/remove-tree.ts';
import { RuntimeError } from '../../runtime/errors.ts';
import { readTar, type TarEntry } from '../tar/read-tar.ts';
import { RootDirectory } from './root-directory.ts';
import { applyWhiteout, isWhiteout } from './whiteouts.ts';

export interface UnpackOptions {
  /** Whether files get the owners that the image says: needs root. */
  readonly setsOwners: boolean;
}

const OWNER_RIGHTS = 0o700;
const SETUID_AND_SETGID = 0o6000;

/** Deletes what the layer deletes. To be called before `applyLayer`, unless it is the first layer. */
export async function applyDeletions(directory: string, layer: AsyncIterable<Uint8Array>): Promise<void> {
  const root = new RootDirectory(directory);
  for await (const { path } of readTar(layer)) {
    if (isWhiteout(path)) await applyWhiteout(root, path);
  }
}

/** Adds the files of a layer. Returns their size in bytes. */
export async function applyLayer(
  directory: string,
  layer: AsyncIterable<Uint8Array>,
  options: UnpackOptions,
): Promise<number> {
  const root = new RootDirectory(directory);
  let bytes = 0;
  for await (const entry of readTar(layer)) {
    if (isWhiteout(entry.path)) continue;
    await add(root, entry, options);
    bytes += entry.size;
  }
  return bytes;
}

async function add(root: RootDirectory, entry: TarEntry, options: UnpackOptions): Promise<void> {
  const path = await root.place(entry.path);
  switch (entry.type) {
    case 'directory':
      await addDirectory(root, path, entry, options);
      return;
    case 'file':
      await makeRoom(root, path);
      await addFile(path, entry, options);
      return;
    case 'symlink':
      await makeRoom(root, path);
      await symlink(entry.linkTarget, path);
      if (options.setsOwners) await lchown(path, entry.uid, entry.gid);
      await lutimes(path, entry.mtime, entry.mtime);
      return;
    case 'hardlink': {
      const target = await root.find(entry.linkTarget);
      if (target === path) return;
      const isFile = target !== undefined && (await lstat(target)).isDirectory() === false;
      if (!isFile) throw new RuntimeError('Unknown', `${entry.path} links to ${entry.linkTarget}, which is not a file`);
      await makeRoom(root, path);
      await link(target, path);
      return;
    }
    case 'character':
    case 'block':
    case 'fifo':
      // See the README.
      return;
  }
}

async function addDirectory(root: RootDirectory, path: string, entry: TarEntry, options: UnpackOptions): Promise<void> {
  const found = await lstatIfThere(path);
  if (!found?.isDirectory()) {
    if (found) await rm(path);
    await mkdir(path);
    root.changed();
  }
  if (options.setsOwners) await lchown(path, entry.uid, entry.gid);
  await chmod(path, modeOf(entry.mode, options) | (options.setsOwners ? 0 : OWNER_RIGHTS));
}

async function addFile(path: string, entry: TarEntry, options: UnpackOptions): Promise<void> {
  const file = await open(path, 'wx', 0o600);
  try {
    for await (const part of entry.content) await writeAll(file, part);
    if (options.setsOwners) await file.chown(entry.uid, entry.gid);
    await file.chmod(modeOf(entry.mode, options));
    await file.utimes(entry.mtime, entry.mtime);
  } finally {
    await file.close();
  }
}

async function writeAll(file: Awaited<ReturnType<typeof open>>, part: Buffer): Promise<void> {
  for (let written = 0; written < part.length; ) {
    written += (await file.write(part, written)).bytesWritten;
  }
}

/** Removes what is in the place of a file. */
async function makeRoom(root: RootDirectory, path: string): Promise<void> {
  if (path === root.path) throw new RuntimeError('Unknown', 'the image replaces its root with a file');
  const found = await lstatIfThere(path);
  if (!found) {
    return;
  }
  await removeTree(path);
  root.changed();
}

/** Without root, a setuid program would run with the rights of the agent's user. */
function modeOf(mode: number, { setsOwners }: UnpackOptions): number {
  return setsOwners ? mode : mode & ~SETUID_AND_SETGID;
}

async function lstatIfThere(path: string) {
  try {
    return await lstat(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}
