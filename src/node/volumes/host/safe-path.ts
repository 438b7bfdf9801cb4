/**
 * Opens paths inside a volume that no link leads out of. A container can exchange a directory for a link at any time, so that a
 * check of a path before it is used proves nothing: each step is opened in the directory that was opened before it, without
 * following links, and what is open cannot be exchanged any more.
 */
import { constants } from 'node:fs';
import { chmod, type FileHandle, mkdir, open, realpath } from 'node:fs/promises';
import { isAbsolute, join, relative } from 'node:path';
import { VolumeError } from '../volumes.ts';

/** Opens a file as a mere reference to it, which needs no right to read. Node does not export it. */
const O_PATH = 0o10000000;
const REFERENCE = O_PATH | constants.O_NOFOLLOW;
const DIRECTORY = REFERENCE | constants.O_DIRECTORY;

/** The path of an open file, through which the kernel reaches it whatever its name has become. */
export const descriptorPath = (handle: FileHandle): string => `/proc/${process.pid}/fd/${handle.fd}`;

/** Opens what is at a path itself, also when that is a link. */
export const openReference = (path: string): Promise<FileHandle> => open(path, REFERENCE);

/**
 * Opens what `path`, relative to `base`, leads to. Links are followed only when what they lead to is inside. The caller closes
 * the handle. Rejects with ENOENT when it does not exist, and with a VolumeError when it is outside.
 */
export async function openInside(base: string, path: string): Promise<FileHandle> {
  const root = await realpath(base);
  const target = await realpath(join(root, path));
  const inside = relative(root, target);
  if (inside === '..' || inside.startsWith('../') || isAbsolute(inside)) {
    throw new VolumeError(`"${path}" leads out of the volume`);
  }
  return descend(root, inside === '' ? [] : inside.split('/'));
}

/** Opens a directory as `openInside` does, and creates what is missing of it with the given mode. */
export async function makeInside(base: string, path: string, mode: number): Promise<FileHandle> {
  const steps = path.split('/').filter((step) => step !== '' && step !== '.');
  if (steps.includes('..')) throw new VolumeError(`"${path}" leads out of the volume`);
  const { handle, missing } = await deepestExisting(base, steps);
  let at = handle;
  for (const step of missing) {
    const child = join(descriptorPath(at), step);
    try {
      await mkdir(child, { mode }).catch(ignoreExisting);
      const next = await open(child, DIRECTORY);
      await at.close();
      at = next;
      await setMode(at, mode);
    } catch (error) {
      await at.close();
      throw error;
    }
  }
  return at;
}

async function deepestExisting(base: string, steps: readonly string[]) {
  for (let length = steps.length; length >= 0; length--) {
    try {
      const handle = await openInside(base, steps.slice(0, length).join('/'));
      return { handle, missing: steps.slice(length) };
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT' || length === 0) throw error;
    }
  }
  throw new VolumeError('unreachable');
}

/** No step may be a link: it was resolved before, so that a link is a new one. */
async function descend(root: string, steps: readonly string[]): Promise<FileHandle> {
  let at = await open(root, DIRECTORY);
  for (const [index, step] of steps.entries()) {
    const isLast = index === steps.length - 1;
    let next: FileHandle;
    try {
      next = await open(join(descriptorPath(at), step), isLast ? REFERENCE : DIRECTORY);
      if (isLast && (await next.stat()).isSymbolicLink()) {
        await next.close();
        throw new VolumeError(`"${step}" has become a link`);
      }
    } finally {
      await at.close();
    }
    at = next;
  }
  return at;
}

/** The mode of `mkdir` is limited by the umask. A reference cannot be changed itself, but through its path. */
async function setMode(handle: FileHandle, mode: number): Promise<void> {
  await chmod(descriptorPath(handle), mode);
}

function ignoreExisting(error: NodeJS.ErrnoException): void {
  if (error.code !== 'EEXIST') throw error;
}
