/** Copies a directory with everything in it: permissions, times, links as they are, and owners as root. */
import { constants } from 'node:fs';
import { chmod, copyFile, lchown, lstat, lutimes, mkdir, opendir, readlink, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import type { UnpackOptions } from './apply-layer.ts';

const PERMISSIONS = 0o7777;

export async function copyTree(source: string, target: string, options: UnpackOptions): Promise<void> {
  const { mode, uid, gid, mtime, atime } = await lstat(source);
  await mkdir(target);
  for await (const { name } of await opendir(source)) {
    await copyEntry(join(source, name), join(target, name), options);
  }
  if (options.setsOwners) await lchown(target, uid, gid);
  await chmod(target, mode & PERMISSIONS);
  await lutimes(target, atime, mtime);
}

async function copyEntry(source: string, target: string, options: UnpackOptions): Promise<void> {
  const found = await lstat(source);
  if (found.isDirectory()) return copyTree(source, target, options);
  // File systems that can share the content do.
  if (found.isSymbolicLink()) await symlink(await readlink(source), target);
  else if (found.isFile()) await copyFile(source, target, constants.COPYFILE_FICLONE | constants.COPYFILE_EXCL);
  else return;
  if (options.setsOwners) await lchown(target, found.uid, found.gid);
  // Changing the owner clears setuid.
  if (found.isFile()) await chmod(target, found.mode & PERMISSIONS);
  await lutimes(target, found.atime, found.mtime);
}
