/**
 * The data directory of a cluster: `cluster.json` (the format of the directory, and remembered settings), `lock`, `pki/`,
 * `store/`, `admin.kubeconfig`. Only one process at a time uses it.
 */
import { chmod, mkdir, readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { ProcessLock } from '../../../base/process-lock.ts';
import { CliError } from '../../output/cli-error.ts';
import { readIfThere, writeWhole } from '../../process/files.ts';
import type { Settings } from '../flags.ts';
import { type Remembered, rememberedOf } from '../settings/settle.ts';
import { takeLock } from './lock.ts';

/** Raised when older programs could no longer read the directory. */
const FORMAT = 1;

export interface Directory {
  readonly path: string;
  readonly isNew: boolean;
  readonly remembered: Remembered;
  remember(settings: Settings): Promise<void>;
  release(): Promise<void>;
}

/** Creates or opens the directory, takes its lock, and reads the remembered settings. */
export async function openDirectory(path: string): Promise<Directory> {
  await mkdir(path, { recursive: true, mode: 0o700 });
  const lock: ProcessLock = await takeLock(path);
  try {
    const file = join(path, 'cluster.json');
    const found = await readCluster(file);
    if (!found) await makePrivate(path);
    let known = JSON.stringify(found);
    return {
      path,
      isNew: found === undefined,
      remembered: found ?? {},
      async remember(settings) {
        const next = { format: FORMAT, ...rememberedOf(settings) };
        if (JSON.stringify(next) === known) return;
        await writeWhole(file, `${JSON.stringify(next, undefined, 2)}\n`);
        known = JSON.stringify(next);
      },
      release: () => lock.release(),
    };
  } catch (error) {
    await lock.release();
    throw error;
  }
}

/** A directory that the user created for the cluster may be readable by others. One with other files, or of another user, is left alone. */
async function makePrivate(path: string): Promise<void> {
  const [names, { uid }] = await Promise.all([readdir(path), stat(path)]);
  if (uid === process.getuid?.() && names.every((name) => EARLY_FILES.has(name))) await chmod(path, 0o700);
}

/** Files that can exist before cluster.json: from an earlier failed start, or from a restore. */
const EARLY_FILES: ReadonlySet<string> = new Set(['lock', 'pki', 'store', 'encryption.key']);

/** Reads the remembered settings of a directory, also while a process uses it; empty when there is no cluster. */
export async function rememberedIn(path: string): Promise<Remembered> {
  return (await readCluster(join(path, 'cluster.json'))) ?? {};
}

/** Reads the remembered settings of the other clusters below `home`, whose ports and ranges are taken. */
export async function otherClusters(home: string, path: string): Promise<readonly Remembered[]> {
  const names = await readdir(home).catch((): string[] => []);
  const paths = names.map((name) => join(home, name)).filter((other) => other !== path);
  const found = await Promise.all(
    paths.map((other) => readCluster(join(other, 'cluster.json')).catch(() => undefined)),
  );
  return found.filter((cluster) => cluster !== undefined);
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
