/** The part of a volume that a container mounts: a subPath that cannot be led out of the volume. */
import { lstat, mkdir, readlink, rmdir, stat, unlink, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { backsteps } from '../../kinds/shapes/meta/paths.ts';
import { expand } from '../container/variables/expansion.ts';
import type { EnvVariable } from '../runtime/container-config.ts';
import type { Mounter } from './host/mounter.ts';
import { descriptorPath, makeInside, openInside } from './host/safe-path.ts';
import { VolumeError } from './volumes.ts';

interface SubPathMount {
  readonly name: string;
  readonly subPath?: string;
  readonly subPathExpr?: string;
}

/** Empty when the whole volume is mounted. Variables without a value are an error, because the path would be another one. */
export function subPathOf({ subPath = '', subPathExpr = '' }: SubPathMount, env: readonly EnvVariable[]): string {
  const path = subPathExpr ? expanded(subPathExpr, env) : subPath;
  if (path.startsWith('/')) throw new VolumeError(`error SubPath \`${path}\` must not be an absolute path`);
  for (const complaint of backsteps(path))
    throw new VolumeError(`unable to provision SubPath \`${path}\`: ${complaint}`);
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
  /** Where it is mounted, if the agent can mount. */
  readonly mountPoint: string;
  readonly mounter: Mounter;
  /** For messages. */
  readonly container: string;
  readonly volume: string;
}

/**
 * Returns a path on the node. With a mounter that is a mount of what was opened, which no later exchange of links can change;
 * without, it is where the path leads at this time. What is missing is created. Messages tell nothing about the node's files.
 */
export async function prepareSubPath(request: SubPathRequest): Promise<string> {
  const { volumePath, subPath, mountPoint, mounter, container, volume } = request;
  let handle: Awaited<ReturnType<typeof openInside>>;
  try {
    handle = await openInside(volumePath, subPath);
  } catch (error) {
    const isMissing = (error as NodeJS.ErrnoException).code === 'ENOENT';
    const verb = isMissing ? 'create subPath directory' : 'prepare subPath';
    const message = `failed to ${verb} for volumeMount "${volume}" of container "${container}"`;
    if (!isMissing) throw new VolumeError(message, { cause: error });
    const { mode } = await stat(volumePath);
    handle = await makeInside(volumePath, subPath, mode & 0o7777).catch((cause) => {
      throw new VolumeError(message, { cause });
    });
  }
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

/** What is mounted already stays: other containers of the name may still use it. */
async function mountAt(mounter: Mounter, source: string, mountPoint: string): Promise<void> {
  const wanted = await stat(source);
  const isMounted = (await mounter.entries()).some((entry) => entry.mountPoint === mountPoint);
  if (isMounted) {
    const found = await stat(mountPoint).catch(() => undefined);
    if (found && found.ino === wanted.ino && found.dev === wanted.dev) return;
    await mounter.unmount(mountPoint);
  }
  await mkdir(dirname(mountPoint), { recursive: true, mode: 0o750 });
  await removeMountPoint(mountPoint);
  if (wanted.isDirectory()) await mkdir(mountPoint, { recursive: true, mode: 0o750 });
  else await writeFile(mountPoint, '', { mode: 0o640 });
  await mounter.bind(source, mountPoint);
}

/** It is empty unless something is still mounted there, whose files must not be removed. */
async function removeMountPoint(path: string): Promise<void> {
  const stats = await lstat(path).catch(() => undefined);
  if (stats) await (stats.isDirectory() ? rmdir(path) : unlink(path));
}
