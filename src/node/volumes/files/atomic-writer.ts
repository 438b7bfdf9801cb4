/**
 * Writes the files of a volume so that a program sees either all old or all new ones, as kubelet does it:
 *
 *     NAME                        -> ..data/NAME
 *     ..data                      -> ..2030_01_01_00_00_00.123456789
 *     ..2030_01_01_00_00_00.123456789/NAME
 *
 * Replacing the link `..data` is atomic. Programs watch that link.
 */

import { dirname, join, normalize } from 'node:path';
import { ifMissing } from '../../../base/files/if-missing.ts';
import {
  chmod,
  type Dirent,
  lchown,
  mkdir,
  readdir,
  readFile,
  readlink,
  rename,
  rm,
  stat,
  symlink,
  unlink,
  writeFile,
} from '../../../base/files/own/own-files.ts';
import type { Random } from '../../../base/random.ts';
import { type HostIds, hostUser, rootOf } from '../host/host-ids.ts';
import { type Payload, PayloadError, type PayloadFile } from './payload.ts';

const DATA = '..data';
const NEW_DATA = '..data_tmp';
const MAX_PATH = 4096;
const MAX_FILE_NAME = 255;

export interface WriteOptions {
  readonly now: number;
  readonly random: Random;
  readonly ids: HostIds | undefined;
  /** Called after new files were written, and before they are visible. */
  readonly beforePublish?: (() => Promise<void>) | undefined;
}

/**
 * Writes files and returns whether anything changed. The directory must exist, and nothing else may write to it
 * meanwhile.
 */
export async function writeAtomically(directory: string, payload: Payload, options: WriteOptions): Promise<boolean> {
  const files = checked(payload);
  const current = await readlink(join(directory, DATA)).catch(ifMissing);
  const before = current === undefined ? undefined : await readFiles(join(directory, current), options.ids);
  const changes = !before || !isSame(before, files);
  if (changes) {
    const name = dataDirectoryName(options.now, options.random);
    await writeNew(join(directory, name), files, options.ids);
    await options.beforePublish?.();
    await rm(join(directory, NEW_DATA), { force: true });
    await symlink(name, join(directory, NEW_DATA));
    await rename(join(directory, NEW_DATA), join(directory, DATA));
  }
  await showOnly(directory, topNames(files.keys()), before ? topNames(before.keys()) : new Set());
  if (changes && current !== undefined) await rm(join(directory, current), { recursive: true, force: true });
  return changes;
}

/** Returns the present files of the volume; undefined if it was never written. */
export async function readPayload(directory: string, ids: HostIds | undefined): Promise<Payload | undefined> {
  const current = await readlink(join(directory, DATA)).catch(ifMissing);
  return current === undefined ? undefined : readFiles(join(directory, current), ids);
}

/** Paths must stay inside the volume, and names that begin with two dots are reserved. */
function checked(payload: Payload): Payload {
  const files: Payload = new Map();
  for (const [path, file] of payload) {
    const items = path.split('/');
    if (path === '') throw new PayloadError('invalid path: must not be empty: ""');
    if (path.startsWith('/')) throw new PayloadError(`invalid path: must be relative path: ${path}`);
    if (path.length > MAX_PATH) {
      throw new PayloadError(`invalid path: must be less than or equal to ${MAX_PATH} characters`);
    }
    if (items.includes('..')) throw new PayloadError(`invalid path: must not contain '..': ${path}`);
    if (items.some((item) => Buffer.byteLength(item) > MAX_FILE_NAME)) {
      throw new PayloadError(`invalid path: filenames must be less than or equal to ${MAX_FILE_NAME} characters`);
    }
    if (items[0]?.startsWith('..')) throw new PayloadError(`invalid path: must not start with '..': ${path}`);
    files.set(normalize(path).replace(/\/$/, ''), file);
  }
  return files;
}

async function writeNew(directory: string, files: Payload, ids: HostIds | undefined): Promise<void> {
  await makeDirectory(directory, ids);
  for (const [path, { data, mode, owner }] of files) {
    const file = join(directory, path);
    await makeParents(directory, dirname(path), ids);
    await writeFile(file, data, { mode: 0o600, flag: 'wx' });
    await chmod(file, mode);
    // Without root, the container runs as the agent's user, too.
    if (ids) await lchown(file, hostUser(ids, owner ?? 0), ids.gidBase);
    else if (owner !== undefined) await lchown(file, owner, -1).catch(ifDenied);
  }
}

async function makeParents(directory: string, parent: string, ids: HostIds | undefined): Promise<void> {
  if (parent === '.') return;
  let at = directory;
  for (const step of parent.split('/')) {
    at = join(at, step);
    await makeDirectory(at, ids);
  }
}

/** Regardless of the umask. */
async function makeDirectory(path: string, ids: HostIds | undefined): Promise<void> {
  await mkdir(path).catch(ifExists);
  if (ids) await lchown(path, rootOf(ids).uid, rootOf(ids).gid);
  await chmod(path, 0o755);
}

/** Links to the present files, and removes links to files that are gone. */
async function showOnly(directory: string, names: ReadonlySet<string>, before: ReadonlySet<string>): Promise<void> {
  for (const name of names) await symlink(join(DATA, name), join(directory, name)).catch(ifExists);
  for (const name of before) if (!names.has(name)) await unlink(join(directory, name)).catch(ifMissing);
}

const topNames = (paths: Iterable<string>): Set<string> => new Set([...paths].map((path) => path.split('/')[0]!));

function isSame(before: Payload, after: Payload): boolean {
  if (before.size !== after.size) return false;
  return [...after].every(([path, { data }]) => before.get(path)?.data.equals(data) ?? false);
}

async function readFiles(directory: string, ids: HostIds | undefined): Promise<Payload> {
  const files: Payload = new Map();
  const visit = async (relative: string): Promise<void> => {
    const entries: Dirent[] = await readdir(join(directory, relative), { withFileTypes: true }).catch((error) => {
      ifMissing(error);
      return [];
    });
    for (const entry of entries) {
      const path = join(relative, entry.name);
      if (entry.isDirectory()) await visit(path);
      else files.set(path, await readOne(join(directory, path), ids));
    }
  };
  await visit('');
  return files;
}

async function readOne(path: string, ids: HostIds | undefined): Promise<PayloadFile> {
  const [data, { mode, uid }] = await Promise.all([readFile(path), stat(path)]);
  const isOwn = uid === (ids ? ids.uidBase : process.getuid?.());
  return { data, mode: mode & 0o777, ...(isOwn ? {} : { owner: uid - (ids?.uidBase ?? 0) }) };
}

function ifDenied(error: NodeJS.ErrnoException): void {
  if (error.code !== 'EPERM') throw error;
}

function ifExists(error: NodeJS.ErrnoException): void {
  if (error.code !== 'EEXIST') throw error;
}

const NANOSECONDS = 1_000_000_000;

/** `..2030_01_01_12_00_00.123456789`: the time, and a random number, so that two in one second differ. */
function dataDirectoryName(now: number, random: Random): string {
  const [date = '', time = ''] = new Date(now).toISOString().split('T');
  const stamp = `${date}_${time.slice(0, 8)}`.replace(/[-:]/g, '_');
  return `..${stamp}.${random.int(NANOSECONDS)}`;
}
