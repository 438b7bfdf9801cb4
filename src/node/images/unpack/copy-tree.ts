/** Copies a directory with everything in it: permissions, times, links as they are, and owners as root. */
import { OpenDirectory } from '../../../base/files/inside/open-directory.ts';
import { openReferredFile } from '../../../base/files/inside/regular-file.ts';
import { type FileHandle, makeDirectory, type Stats } from '../../../base/files/own/own-files.ts';
import type { UnpackOptions } from './apply-layer.ts';

const PERMISSIONS = 0o7777;
const CHUNK_BYTES = 1024 * 1024;

export async function copyTree(source: string, target: string, options: UnpackOptions): Promise<void> {
  await makeDirectory(target, 0o700);
  await copyDirectory(await OpenDirectory.open(source), await OpenDirectory.open(target), options);
}

/** Closes both. */
async function copyDirectory(from: OpenDirectory, to: OpenDirectory, options: UnpackOptions): Promise<void> {
  try {
    await copyEntries(from, to, options);
  } finally {
    await from.close();
    await to.close();
  }
}

async function copyEntries(from: OpenDirectory, to: OpenDirectory, options: UnpackOptions): Promise<void> {
  for await (const { name } of await from.entries()) {
    const handle = await from.reference(name);
    if (!handle) continue;
    try {
      await copyEntry({ from, to, name, handle }, options);
    } finally {
      await handle.close();
    }
  }
  const { mode, uid, gid } = await from.stat();
  if (options.setsOwners) await to.setOwner({ uid, gid });
  await to.setMode(mode & PERMISSIONS);
}

interface Entry {
  readonly from: OpenDirectory;
  readonly to: OpenDirectory;
  readonly name: string;
  readonly handle: FileHandle;
}

async function copyEntry(entry: Entry, options: UnpackOptions): Promise<void> {
  const { from, to, name, handle } = entry;
  const found = await handle.stat();
  if (found.isDirectory()) {
    const inner = await from.directory(name);
    if (!inner) return;
    await copyDirectory(inner, await to.makeDirectory(name), options);
  } else if (found.isSymbolicLink()) {
    await to.symlink(name, await from.readlink(name));
    if (options.setsOwners) await to.setOwnerOf(name, found);
  } else if (found.isFile()) await copyFile(entry, found, options);
  else return;
  await to.setTimesOf(name, found.atime, found.mtime);
}

async function copyFile({ to, name, handle }: Entry, found: Stats, options: UnpackOptions): Promise<void> {
  const source = await openReferredFile(handle);
  if (!source) return;
  const target = await to.createFile(name);
  try {
    const chunk = Buffer.allocUnsafe(CHUNK_BYTES);
    for (;;) {
      const { bytesRead } = await source.read(chunk, 0, CHUNK_BYTES);
      if (bytesRead === 0) break;
      for (let written = 0; written < bytesRead; ) {
        written += (await target.write(chunk, written, bytesRead - written)).bytesWritten;
      }
    }
    if (options.setsOwners) await target.chown(found.uid, found.gid);
    // Changing the owner clears setuid.
    await target.chmod(found.mode & PERMISSIONS);
  } finally {
    await target.close();
    await source.close();
  }
}
