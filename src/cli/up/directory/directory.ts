/**
 * The data directory of a cluster: `cluster.json` (the format of the directory, and remembered settings), `lock`, `pki/`,
 * `store/`, `admin.kubeconfig`. Only one process at a time uses it.
 */

import { chmod, readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { readIfThere, removeEmptyDirectories, syncDirectory, writeWhole } from '../../../base/files/own/files.ts';
import { makeDirectories } from '../../../base/files/own/make-directories.ts';
import { CliError } from '../../output/cli-error.ts';
import type { Settings } from '../flags.ts';
import { type Remembered, rememberedOf } from '../settings/settle.ts';
import type { HeldLock } from '../store/moving/restart.ts';
import { takeLock } from './lock.ts';
import { isOwnFile } from './own-files.ts';

/** Raised when older programs could no longer read the directory. */
const FORMAT = 1;

export interface Directory {
  readonly path: string;
  readonly isNew: boolean;
  readonly remembered: Remembered;
  /** Creates the directory when it is missing, and makes a new one private. Until then nothing is written but a lock. */
  create(): Promise<void>;
  remember(settings: Settings): Promise<void>;
  /** Releases the lock. A directory that was created and is still empty is removed. */
  release(): Promise<void>;
}

const NOT_HELD: HeldLock = { isKept: false, lock: undefined };

/**
 * Reads the remembered settings. A directory that exists is locked, unless an earlier start of this process has kept its lock; one that is missing is not created yet. Rejects when
 * it has files of something else.
 */
export async function openDirectory(path: string, held: HeldLock = NOT_HELD): Promise<Directory> {
  const names = await namesIn(path);
  if (names) {
    rejectForeign(path, names);
    rejectIncomplete(path, names);
  }
  const file = join(path, 'cluster.json');
  let lock = held.lock ?? (names && (await takeLock(path)));
  held.lock = undefined;
  let created: string | undefined;
  const release = async () => {
    if (held.isKept) held.lock = lock;
    else await lock?.release();
    if (created !== undefined) await removeEmptyDirectories(path, created);
  };
  try {
    const found = names && (await readCluster(file));
    let known = JSON.stringify(found);
    return {
      path,
      isNew: found === undefined,
      remembered: found ?? {},
      async create() {
        if (!lock) {
          created = await makeDirectories(path, 0o700);
          lock = await takeLock(path);
          if (await readCluster(file)) throw new CliError(`another process has just created ${path}; start again`);
        }
        if (!found) await makePrivate(path);
      },
      async remember(settings) {
        const next = JSON.stringify(contentOf(settings));
        if (next === known) return;
        await rememberIn(path, settings);
        known = next;
      },
      release,
    };
  } catch (error) {
    await release();
    throw error;
  }
}

/** Returns undefined when the directory does not exist. */
async function namesIn(path: string): Promise<readonly string[] | undefined> {
  try {
    return await readdir(path);
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw isFile(cause) ? notADirectory(path, cause) : cause;
  }
}

/** Reports whether an error says that a file, or something below one, was taken for a directory. */
const isFile = (error: unknown) => (error as NodeJS.ErrnoException).code === 'ENOTDIR';

const notADirectory = (path: string, cause: unknown) =>
  new CliError(`${path} is not a directory; choose another with --data-dir`, { cause });

/** In the root of a file system. */
const LOST_AND_FOUND = 'lost+found';

const MAX_NAMED_FILES = 3;

/** Without cluster.json, a directory is ours if a start that failed, or a restore, left all that is in it. */
function rejectForeign(path: string, names: readonly string[]): void {
  if (names.includes('cluster.json')) return;
  const foreign = names.filter((name) => !isOwnFile(name) && name !== LOST_AND_FOUND).sort();
  if (foreign.length === 0) return;
  const more = foreign.length > MAX_NAMED_FILES ? ` and ${foreign.length - MAX_NAMED_FILES} more` : '';
  const named = `${foreign.slice(0, MAX_NAMED_FILES).join(', ')}${more}`;
  throw new CliError(
    `${path} is not empty and is not the data directory of a cluster (it has ${named}); choose another with --data-dir`,
  );
}

/** The folder of a data directory in which a restore makes what belongs into it. */
export const RESTORING = 'restoring';

/** A restore that was interrupted may have made some of a cluster already. */
function rejectIncomplete(path: string, names: readonly string[]): void {
  if (names.includes('cluster.json') || !names.includes(RESTORING)) return;
  throw new CliError(`a restore to ${path} was interrupted; run qd restore again, or remove the directory`);
}

/** A directory that the user created for the cluster may be readable by others. One of another user is left alone. */
async function makePrivate(path: string): Promise<void> {
  const { uid } = await stat(path);
  if (uid === process.getuid?.()) await chmod(path, 0o700);
}

/** Reads the remembered settings of a directory, also while a process uses it; empty when there is no cluster. */
export async function rememberedIn(path: string): Promise<Remembered> {
  try {
    return (await readCluster(join(path, 'cluster.json'))) ?? {};
  } catch (error) {
    throw isFile(error) ? notADirectory(path, error) : error;
  }
}

const contentOf = (settings: Partial<Settings>) => ({ format: FORMAT, ...rememberedOf(settings) });

/** Replaces the remembered settings. The caller holds the lock of the directory. */
export async function rememberIn(path: string, settings: Partial<Settings>): Promise<void> {
  await writeWhole(join(path, 'cluster.json'), `${JSON.stringify(contentOf(settings), undefined, 2)}\n`);
  await syncDirectory(path);
}

/** Reads the remembered settings of the other clusters below `home` and in further directories: their ports and ranges are taken. */
export async function otherClusters(
  home: string,
  path: string,
  elsewhere: readonly string[] = [],
): Promise<readonly (Remembered & { readonly directory: string })[]> {
  const names = await readdir(home).catch((): string[] => []);
  const directories = [...names.map((name) => join(home, name)), ...elsewhere].filter((other) => other !== path);
  const found = await Promise.all(
    directories.map(async (directory) => {
      const settings = await readCluster(join(directory, 'cluster.json')).catch(() => undefined);
      return settings ? [{ ...settings, directory }] : [];
    }),
  );
  return found.flat();
}

async function readCluster(file: string): Promise<(Remembered & { format?: number }) | undefined> {
  const text = await readIfThere(file);
  if (text === undefined) return undefined;
  const content = parse(text, file);
  if (content.format > FORMAT) {
    throw new CliError(
      `${file} has format ${content.format}, and this qd supports ${FORMAT}: a newer qd created the directory; use that one`,
    );
  }
  return content;
}

function parse(text: string, file: string): { format: number } {
  try {
    const content = JSON.parse(text);
    if (Number.isInteger(content?.format)) return content;
  } catch (cause) {
    throw new CliError(`${file} is not valid JSON; restore it from a backup`, { cause });
  }
  throw new CliError(`${file} has no format; is this the data directory of a cluster?`);
}
