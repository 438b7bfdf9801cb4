/**
 * Writes the files of a volume so that a program sees either all old or all new ones, as kubelet does it:
 *
 *     NAME                        -> ..data/NAME
 *     ..data                      -> ..2030_01_01_00_00_00.123456789
 *     ..2030_01_01_00_00_00.123456789/NAME
 *
 * Replacing the link `..data` is atomic. Programs watch that link.
 */

import type { Dirent } from 'node:fs';
import {
  chmod,
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
} from 'node:fs/promises';
import { dirname, join, normalize } from 'node:path';
import type { Random } from '../../../base/random.ts';
import { dataDirectoryName } from './directory-name.ts';
import { type Payload, PayloadError, type PayloadFile } from './payload.ts';

const DATA = '..data';
const NEW_DATA = '..data_tmp';
const MAX_PATH = 4096;
const MAX_FILE_NAME = 255;

export interface WriteOptions {
  readonly now: number;
  readonly random: Random;
  /** Called after new files were written, and before they are visible. */
  readonly beforePublish?: (() => Promise<void>) | undefined;
}

/** Returns whether anything changed. The directory must exist, and nobody else may write to it meanwhile. */
export async function writeAtomically(directory: string, payload: Payload, options: WriteOptions): Promise<boolean> {
  const files = checked(payload);
  const current = await readlink(join(directory, DATA)).catch(ifMissing);
  const before = current === undefined ? undefined : await readFiles(join(directory, current));
  const changes = !before || !isSame(before, files);
  if (changes) {
    const name = dataDirectoryName(options.now, options.random);
    await writeNew(join(directory, name), files);
    await options.beforePublish?.();
    await rm(join(directory, NEW_DATA), { force: true });
    await symlink(name, join(directory, NEW_DATA));
    await rename(join(directory, NEW_DATA), join(directory, DATA));
  }
  await showOnly(directory, topNames(files.keys()), before ? topNames(before.keys()) : new Set());
  if (changes && current !== undefined) await rm(join(directory, current), { recursive: true, force: true });
  return changes;
}

/** What the volume shows now; undefined: it was never written. */
export async function readPayload(directory: string): Promise<Payload | undefined> {
  const current = await readlink(join(directory, DATA)).catch(ifMissing);
  return current === undefined ? undefined : readFiles(join(directory, current));
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

async function writeNew(directory: string, files: Payload): Promise<void> {
  await mkdir(directory);
  // Regardless of the umask.
  await chmod(directory, 0o755);
  for (const [path, { data, mode, owner }] of files) {
    const file = join(directory, path);
    await makeParents(directory, dirname(path));
    await writeFile(file, data, { mode: 0o600, flag: 'wx' });
    await chmod(file, mode);
    // Without root, the container runs as the agent's user, too.
    if (owner !== undefined) await lchown(file, owner, -1).catch(ifDenied);
  }
}

async function makeParents(directory: string, parent: string): Promise<void> {
  if (parent === '.') return;
  let at = directory;
  for (const step of parent.split('/')) {
    at = join(at, step);
    await mkdir(at).catch(ifExists);
    await chmod(at, 0o755);
  }
}

/** Links to what is there now; links to what is gone are removed. */
async function showOnly(directory: string, names: ReadonlySet<string>, before: ReadonlySet<string>): Promise<void> {
  for (const name of names) await symlink(join(DATA, name), join(directory, name)).catch(ifExists);
  for (const name of before) if (!names.has(name)) await unlink(join(directory, name)).catch(ifMissing);
}

const topNames = (paths: Iterable<string>): Set<string> => new Set([...paths].map((path) => path.split('/')[0]!));

function isSame(before: Payload, after: Payload): boolean {
  if (before.size !== after.size) return false;
  return [...after].every(([path, { data }]) => before.get(path)?.data.equals(data) ?? false);
}

async function readFiles(directory: string): Promise<Payload> {
  const files: Payload = new Map();
  const visit = async (relative: string): Promise<void> => {
    const entries: Dirent[] = await readdir(join(directory, relative), { withFileTypes: true }).catch((error) => {
      ifMissing(error);
      return [];
    });
    for (const entry of entries) {
      const path = join(relative, entry.name);
      if (entry.isDirectory()) await visit(path);
      else files.set(path, await readOne(join(directory, path)));
    }
  };
  await visit('');
  return files;
}

async function readOne(path: string): Promise<PayloadFile> {
  const [data, { mode, uid }] = await Promise.all([readFile(path), stat(path)]);
  return { data, mode: mode & 0o777, ...(uid === ownUser() ? {} : { owner: uid }) };
}

const ownUser = (): number | undefined => process.getuid?.();

function ifMissing(error: NodeJS.ErrnoException): undefined {
  if (error.code !== 'ENOENT') throw error;
  return undefined;
}

function ifDenied(error: NodeJS.ErrnoException): void {
  if (error.code !== 'EPERM') throw error;
}

function ifExists(error: NodeJS.ErrnoException): void {
  if (error.code !== 'EEXIST') throw error;
}
