/** Applies a layer to a directory. */

import { join, posix } from 'node:path';
import type { OpenDirectory } from '../../../base/files/inside/open-directory.ts';
import { removeFrom } from '../../../base/files/inside/remove-tree.ts';
import { RuntimeError } from '../../runtime/errors.ts';
import { readTar, type TarEntry } from '../tar/read-tar.ts';
import { type Place, RootDirectory } from './root-directory.ts';

export interface UnpackOptions {
  /** True to give files the owners that the image names: needs root. */
  readonly setsOwners: boolean;
}

const OWNER_RIGHTS = 0o700;
const SETUID_AND_SETGID = 0o6000;

/** Applies the deletions of a layer. To be called before `applyLayer`, unless it is the first layer. */
export async function applyDeletions(directory: string, layer: AsyncIterable<Uint8Array>): Promise<void> {
  await RootDirectory.use(directory, async (root) => {
    for await (const { path } of readTar(layer)) {
      if (isWhiteout(path)) await applyWhiteout(root, path);
    }
  });
}

/** Adds the files of a layer. Returns their size in bytes. */
export async function applyLayer(
  directory: string,
  layer: AsyncIterable<Uint8Array>,
  options: UnpackOptions,
): Promise<number> {
  return RootDirectory.use(directory, async (root) => {
    let bytes = 0;
    for await (const entry of readTar(layer)) {
      if (isWhiteout(entry.path)) continue;
      await add(root, entry, options);
      bytes += entry.size;
    }
    return bytes;
  });
}

async function add(root: RootDirectory, entry: TarEntry, options: UnpackOptions): Promise<void> {
  const place = await root.place(entry.path);
  if (entry.type === 'directory') return addDirectory(root, place, entry, options);
  if (!place) throw new RuntimeError('Unknown', 'the image replaces its root with a file');
  const { directory, name } = place;
  switch (entry.type) {
    case 'file':
      await makeRoom(root, place);
      await addFile((await root.place(entry.path))!, entry, options);
      return;
    case 'symlink': {
      await makeRoom(root, place);
      const made = (await root.place(entry.path))!;
      await made.directory.symlink(name, entry.linkTarget);
      if (options.setsOwners) await made.directory.setOwnerOf(name, entry);
      await made.directory.setTimesOf(name, entry.mtime, entry.mtime);
      return;
    }
    case 'hardlink':
      await addHardLink(root, { directory, name }, entry);
      return;
    case 'character':
    case 'block':
    case 'fifo':
      // See the README.
      return;
  }
}

async function addDirectory(
  root: RootDirectory,
  place: Place | undefined,
  entry: TarEntry,
  options: UnpackOptions,
): Promise<void> {
  const directory = await (place ? directoryAt(root, place) : root.root());
  try {
    if (options.setsOwners) await directory.setOwner(entry);
    await directory.setMode(modeOf(entry.mode, options) | (options.setsOwners ? 0 : OWNER_RIGHTS));
  } finally {
    await directory.close();
  }
}

async function directoryAt(root: RootDirectory, { directory, name }: Place): Promise<OpenDirectory> {
  const found = await directory.directory(name);
  if (found) return found;
  await directory.unlink(name);
  const made = await directory.makeDirectory(name);
  await root.changed();
  return made;
}

async function addFile({ directory, name }: Place, entry: TarEntry, options: UnpackOptions): Promise<void> {
  const file = await directory.createFile(name);
  try {
    for await (const part of entry.content) await writeAll(file, part);
    if (options.setsOwners) await file.chown(entry.uid, entry.gid);
    await file.chmod(modeOf(entry.mode, options));
    await file.utimes(entry.mtime, entry.mtime);
  } finally {
    await file.close();
  }
}

/** A second name of a file that the image has already. */
async function addHardLink(root: RootDirectory, place: Place, entry: TarEntry): Promise<void> {
  const target = await root.find(entry.linkTarget);
  const notFile = () => new RuntimeError('Unknown', `${entry.path} links to ${entry.linkTarget}, which is not a file`);
  if (!target) throw notFile();
  try {
    const found = await target.directory.find(target.name);
    if (!found || found.isDirectory()) throw notFile();
    const present = await place.directory.find(place.name);
    if (present?.ino === found.ino && present.dev === found.dev) return;
    await makeRoom(root, place);
    const { directory, name } = (await root.place(entry.path))!;
    await directory.link(target.directory, target.name, name);
  } finally {
    await target.directory.close();
  }
}

async function writeAll(file: Awaited<ReturnType<OpenDirectory['createFile']>>, part: Buffer): Promise<void> {
  for (let written = 0; written < part.length; ) {
    written += (await file.write(part, written)).bytesWritten;
  }
}

/** Removes an existing file. After that, the place has to be looked up again. */
async function makeRoom(root: RootDirectory, { directory, name }: Place): Promise<void> {
  if (!(await directory.find(name))) return;
  await removeFrom(directory, name);
  await root.changed();
}

/** Returns the mode. Without root, a setuid program would run with the rights of the agent's user. */
function modeOf(mode: number, { setsOwners }: UnpackOptions): number {
  return setsOwners ? mode : mode & ~SETUID_AND_SETGID;
}

const PREFIX = '.wh.';
/** Name of the marker for opaque directories. Other names with the double prefix are notes of AUFS to itself. */
const OPAQUE = '.wh..wh..opq';
const NOTE = '.wh..wh.';

/** Deletions in a layer: `.wh.NAME` deletes NAME, `.wh..wh..opq` everything in its directory, of the layers below. */
function isWhiteout(path: string): boolean {
  return posix.basename(path).startsWith(PREFIX);
}

async function applyWhiteout(root: RootDirectory, path: string): Promise<void> {
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
