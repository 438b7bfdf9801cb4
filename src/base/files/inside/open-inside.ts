/** Resolves and opens paths inside a root, step by step. */
import type { Stats } from 'node:fs';
import { chmod, chown, type FileHandle, mkdir, open, readlink } from 'node:fs/promises';
import { codeOf, descriptorPath, openRoot, REFERENCE } from './descriptors.ts';
import { PathInsideError } from './errors.ts';
import { rejectKernelFiles } from './kernel-files.ts';

/**
 * The policy for symbolic links. `chroot`: resolved as if the root were `/`, so none leads out. `beneath`: links may
 * lead to paths below the root; others are an error. `reject`: every link is an error.
 */
export type Links = 'chroot' | 'beneath' | 'reject';

export interface InsideOptions {
  readonly links: Links;
  /** Creates missing directories. */
  readonly create?: NewDirectory;
}

interface NewDirectory {
  /** Applied regardless of the umask. */
  readonly mode: number;
  readonly owner?: { readonly uid: number; readonly gid: number } | undefined;
}

/** The limit of Linux. */
const MAX_LINKS = 40;
/** Limit for the depth of a path: each level is kept open until the path is resolved. */
const MAX_DEPTH = 500;

/**
 * Opens a reference to the target of `path`; the caller closes it. Rejects with ENOENT or ENOTDIR when it does not
 * exist, and with a PathInsideError when the path is not allowed.
 */
export async function openInside(root: string, path: string, options: InsideOptions): Promise<FileHandle> {
  if (path.includes('\0')) throw new PathInsideError(`"${path.replaceAll('\0', '\\0')}" contains a zero byte`);
  const opened = await openRoot(root);
  return resolve(opened, path, options);
}

/**
 * Returns the path with all links resolved. Use it only for roots that nobody else writes to: others could change it at
 * any time.
 */
export async function pathInside(root: string, path: string, options: InsideOptions): Promise<string> {
  const handle = await openInside(root, path, options);
  try {
    return await readlink(descriptorPath(handle));
  } finally {
    await handle.close();
  }
}

interface Step {
  readonly handle: FileHandle;
  readonly stats: Stats;
}

/** Takes ownership of the handle of the root. */
async function resolve(root: FileHandle, path: string, options: InsideOptions): Promise<FileHandle> {
  const trail: Step[] = [];
  try {
    trail.push({ handle: root, stats: await root.stat() });
    const left = stepsOf(path).reverse();
    for (let links = 0; left.length > 0; ) {
      const name = left.pop()!;
      if (name === '..') {
        if (trail.length > 1) await trail.pop()!.handle.close();
        else if (options.links !== 'chroot') throw leadsOut(path);
        continue;
      }
      const parent = trail.at(-1)!;
      const next = await openStep(parent, name, options);
      if (!next.stats.isSymbolicLink()) {
        if (trail.push(next) > MAX_DEPTH) throw new PathInsideError(`"${path}" is nested too deep`);
        continue;
      }
      await next.handle.close();
      if (options.links === 'reject') throw new PathInsideError(`"${path}" leads through a link`);
      if (++links > MAX_LINKS) throw new PathInsideError(`too many links on the way to "${path}"`);
      const target = await readlink(`${descriptorPath(parent.handle)}/${name}`);
      const steps = target.startsWith('/') ? await absoluteSteps(target, trail, { path, ...options }) : stepsOf(target);
      left.push(...steps.reverse());
    }
    return trail.pop()!.handle;
  } finally {
    await Promise.all(trail.map(({ handle }) => handle.close()));
  }
}

async function openStep(parent: Step, name: string, { create }: InsideOptions): Promise<Step> {
  const path = `${descriptorPath(parent.handle)}/${name}`;
  let isNew = false;
  const handle = await open(path, REFERENCE).catch(async (error: unknown) => {
    if (!create || codeOf(error) !== 'ENOENT') throw error;
    isNew = await mkdir(path, { mode: 0o700 }).then(
      () => true,
      (failure: unknown) => {
        if (codeOf(failure) === 'EEXIST') return false;
        throw failure;
      },
    );
    return open(path, REFERENCE);
  });
  try {
    const stats = await handle.stat();
    // The new directory may have been replaced since: then it is not ours to change.
    if (create && isNew && stats.isDirectory()) {
      if (create.owner) await chown(descriptorPath(handle), create.owner.uid, create.owner.gid);
      await chmod(descriptorPath(handle), create.mode);
    }
    await rejectKernelFiles(handle, stats, parent.stats.dev);
    return { handle, stats };
  } catch (error) {
    await handle.close();
    throw error;
  }
}

/** Returns the steps of an absolute link, and resets the trail to the root. */
async function absoluteSteps(
  target: string,
  trail: Step[],
  { path, links }: { readonly path: string; readonly links: Links },
): Promise<string[]> {
  for (const { handle } of trail.splice(1)) await handle.close();
  if (links === 'chroot') return stepsOf(target);
  const root = await readlink(descriptorPath(trail[0]!.handle));
  if (target !== root && !target.startsWith(`${root}/`)) throw leadsOut(path);
  return stepsOf(target.slice(root.length));
}

function stepsOf(path: string): string[] {
  return path.split('/').filter((step) => step !== '' && step !== '.');
}

const leadsOut = (path: string) => new PathInsideError(`"${path}" leads out of its root`);
