/** Changes owners and modes of everything in a tree that others may modify concurrently. */
import type { Stats } from 'node:fs';
import { chmod, chown, type FileHandle } from 'node:fs/promises';
import { descriptorPath } from './descriptors.ts';
import { TreeTooDeepError } from './errors.ts';
import { rejectKernelFiles } from './kernel-files.ts';
import { OpenDirectory } from './open-directory.ts';

/** Limit for the depth of a tree: each level keeps two files open. */
const MAX_DEPTH = 500;

interface FileChange {
  readonly uid: number;
  readonly gid: number;
  /** The new mode; undefined leaves it unchanged. Symbolic links have none. */
  readonly mode?: number | undefined;
}

/** Decides the change of a file; undefined for no change. */
export type ChangeOf = (found: Stats) => FileChange | undefined;

/**
 * Applies a change to everything in a directory, and to itself last. Skips files that may not be changed and kernel
 * file systems, and changes links themselves. Rejects with a TreeTooDeepError.
 */
export async function changeTree(path: string, changeOf: ChangeOf): Promise<void> {
  const root = await OpenDirectory.open(path);
  try {
    await changeInside(root, { changeOf, depth: 0, device: (await root.stat()).dev });
    await apply(root.path, changeOf(await root.stat()));
  } finally {
    await root.close();
  }
}

interface Walk {
  readonly changeOf: ChangeOf;
  readonly depth: number;
  readonly device: number;
}

async function changeInside(directory: OpenDirectory, walk: Walk): Promise<void> {
  if (walk.depth > MAX_DEPTH) throw new TreeTooDeepError(`directories are nested more than ${MAX_DEPTH} levels deep`);
  for await (const { name } of await directory.entries()) {
    const handle = await directory.reference(name);
    if (!handle) continue;
    try {
      await change(directory, { name, handle }, walk);
    } finally {
      await handle.close();
    }
  }
}

async function change(
  parent: OpenDirectory,
  { name, handle }: { readonly name: string; readonly handle: FileHandle },
  walk: Walk,
): Promise<void> {
  const found = await handle.stat();
  const wanted = walk.changeOf(found);
  // The path of a reference to a link is the link itself.
  if (found.isSymbolicLink()) return apply(descriptorPath(handle), wanted && { uid: wanted.uid, gid: wanted.gid });
  await rejectKernelFiles(handle, found, walk.device);
  if (found.isDirectory()) {
    const directory = await parent.directory(name);
    if (directory) {
      try {
        await changeInside(directory, { ...walk, depth: walk.depth + 1, device: found.dev });
      } finally {
        await directory.close();
      }
    }
  }
  await apply(descriptorPath(handle), wanted);
}

async function apply(path: string, wanted: FileChange | undefined): Promise<void> {
  if (!wanted) return;
  await chown(path, wanted.uid, wanted.gid).catch(ifDenied);
  if (wanted.mode !== undefined) await chmod(path, wanted.mode).catch(ifDenied);
}

function ifDenied(error: unknown): void {
  const { code } = error as NodeJS.ErrnoException;
  if (code !== 'EPERM' && code !== 'EROFS' && code !== 'ENOENT') throw error;
}
