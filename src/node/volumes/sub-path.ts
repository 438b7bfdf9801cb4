/** The part of a volume that a container mounts: a subPath that cannot be led out of the volume. */
import { dirname } from 'node:path';
import { descriptorPath } from '../../base/files/inside/descriptors.ts';
import { openInside } from '../../base/files/inside/open-inside.ts';
import { PRIVATE_FILE, TRAVERSED_DIRECTORY } from '../../base/files/own/modes.ts';
import {
  type FileHandle,
  lstat,
  makeDirectory,
  readlink,
  rmdir,
  stat,
  unlink,
  writeFile,
} from '../../base/files/own/own-files.ts';
import { backsteps } from '../../kinds/shapes/meta/paths.ts';
import { expand } from '../container/variables/expansion.ts';
import type { EnvVariable } from '../runtime/container-config.ts';
import { hasZeroByte, printable } from '../runtime/zero-bytes.ts';
import { type HostIds, rootOf } from './host/host-ids.ts';
import type { Mounter } from './host/mounter.ts';
import { VolumeError } from './volumes.ts';

const SET_GROUP_ID = 0o2000;

interface SubPathMount {
  readonly name: string;
  readonly subPath?: string;
  readonly subPathExpr?: string;
}

/**
 * Returns the subPath; empty when the whole volume is mounted. Variables without a value are an error, because the path
 * would be another one.
 */
export function subPathOf({ subPath = '', subPathExpr = '' }: SubPathMount, env: readonly EnvVariable[]): string {
  const path = subPathExpr ? expanded(subPathExpr, env) : subPath;
  if (path.startsWith('/')) throw new VolumeError(`error SubPath \`${path}\` must not be an absolute path`);
  const complaints = [...backsteps(path), ...(hasZeroByte(path) ? ['must not contain a zero byte'] : [])];
  for (const complaint of complaints)
    throw new VolumeError(`unable to provision SubPath \`${printable(path)}\`: ${complaint}`);
  return path;
}

function expanded(expression: string, env: readonly EnvVariable[]): string {
  const values = new Map(env.map(({ name, value }) => [name, value]));
  const missing = new Set<string>();
  const path = expand(expression, (name) => {
    const value = values.get(name);
    if (!value) missing.add(name);
    return value ?? '';
  });
  if (missing.size) throw new VolumeError(`missing value for ${[...missing].sort().join(', ')}`);
  return path;
}

export interface SubPathRequest {
  readonly volumePath: string;
  readonly subPath: string;
  /** Path at which it is mounted, if the agent can mount. */
  readonly mountPoint: string;
  readonly mounter: Mounter;
  readonly ids: HostIds | undefined;
  /** Name for messages. */
  readonly container: string;
  readonly volume: string;
}

/**
 * Returns a path on the node. With a mounter that is a mount of the opened file, which no later exchange of links can
 * change; without, it is where the path leads at this time. Missing directories are created. Messages reveal nothing
 * about the node's files.
 */
export async function prepareSubPath(request: SubPathRequest): Promise<string> {
  const { mountPoint, mounter, container, volume } = request;
  const handle = await openSubPath(request);
  try {
    const source = descriptorPath(handle);
    if (!mounter.canMount) return await readlink(source);
    await mountAt(mounter, source, mountPoint);
    return mountPoint;
  } catch (cause) {
    if (cause instanceof VolumeError && !mounter.canMount) throw cause;
    throw new VolumeError(`failed to prepare subPath for volumeMount "${volume}" of container "${container}"`, {
      cause,
    });
  } finally {
    await handle.close();
  }
}

async function openSubPath({ volumePath, subPath, ids, volume, container }: SubPathRequest): Promise<FileHandle> {
  const links = 'beneath';
  const failed = (verb: string, cause: unknown) =>
    new VolumeError(`failed to ${verb} for volumeMount "${volume}" of container "${container}"`, { cause });
  try {
    return await openInside(volumePath, subPath, { links });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw failed('prepare subPath', error);
  }
  try {
    const { mode, gid } = await stat(volumePath);
    // Directories below one with the setgid bit have its group.
    const owner = ids && { ...rootOf(ids), ...(mode & SET_GROUP_ID ? { gid } : {}) };
    const create = { mode: mode & 0o7777, owner };
    return await openInside(volumePath, subPath, { links, create });
  } catch (error) {
    throw failed('create subPath directory', error);
  }
}

/** Mounts the source. An existing mount of it stays: other containers with the same name may still use it. */
async function mountAt(mounter: Mounter, source: string, mountPoint: string): Promise<void> {
  const wanted = await stat(source);
  const isMounted = (await mounter.entries()).some((entry) => entry.mountPoint === mountPoint);
  if (isMounted) {
    const found = await stat(mountPoint).catch(() => undefined);
    if (found && found.ino === wanted.ino && found.dev === wanted.dev) return;
    await mounter.unmount(mountPoint);
  }
  await makeDirectory(dirname(mountPoint), TRAVERSED_DIRECTORY);
  await removeMountPoint(mountPoint);
  if (wanted.isDirectory()) await makeDirectory(mountPoint, TRAVERSED_DIRECTORY);
  else await writeFile(mountPoint, '', { mode: PRIVATE_FILE });
  await mounter.bind(source, mountPoint);
}

/** Removes a mount point, which is empty unless something is still mounted there, whose files must not be removed. */
async function removeMountPoint(path: string): Promise<void> {
  const stats = await lstat(path).catch(() => undefined);
  if (stats) await (stats.isDirectory() ? rmdir(path) : unlink(path));
}
