/**
 * A cluster's data directory: `cluster.json` (its format and what the cluster remembers), `lock`, `pki/`, `store/`,
 * `admin.kubeconfig`. One program at a time has it.
 */
import { chmod, mkdir, readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { ProcessLock } from '../../../base/process-lock.ts';
import { CliError } from '../../output/cli-error.ts';
import { readIfThere, writeWhole } from '../../process/files.ts';
import type { Remembered } from '../settings/settings.ts';
import { takeLock } from './lock.ts';

/** Grows when an older program could no longer read the directory. */
const FORMAT = 1;

export interface Directory {
  readonly path: string;
  readonly isNew: boolean;
  readonly remembered: Partial<Remembered>;
  remember(settings: Remembered): Promise<void>;
  release(): Promise<void>;
}

/** Makes or opens the directory, takes its lock, and reads what the cluster remembers. */
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
        const next = { format: FORMAT, ...settings };
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

/** One that was made for the cluster may be open to others. What holds something else, or is somebody else's, stays. */
async function makePrivate(path: string): Promise<void> {
  const [names, { uid }] = await Promise.all([readdir(path), stat(path)]);
  if (uid === process.getuid?.() && names.every((name) => OWN.has(name))) await chmod(path, 0o700);
}

/** What a start, or a restore before it, puts into a directory before there is a cluster. */
const OWN: ReadonlySet<string> = new Set(['lock', 'pki', 'store', 'encryption.key']);

/** What the cluster of a directory remembers, whoever has it open; nothing where there is none. */
export async function rememberedIn(path: string): Promise<Partial<Remembered>> {
  return (await readCluster(join(path, 'cluster.json'))) ?? {};
}

/** What the other clusters below `home` remember: their ports and ranges are not given twice. */
export async function otherClusters(home: string, path: string): Promise<readonly Partial<Remembered>[]> {
  const names = await readdir(home).catch((): string[] => []);
  const paths = names.map((name) => join(home, name)).filter((other) => other !== path);
  const found = await Promise.all(
    paths.map((other) => readCluster(join(other, 'cluster.json')).catch(() => undefined)),
  );
  return found.filter((cluster) => cluster !== undefined);
}

async function readCluster(file: string): Promise<(Partial<Remembered> & { format?: number }) | undefined> {
  const text = await readIfThere(file);
  if (text === undefined) return undefined;
  const content = parse(text, file);
  if (content.format > FORMAT) {
    throw new CliError(
      `${file} has format ${content.format} and this program knows ${FORMAT}: a newer qd made the directory; use that one`,
    );
  }
  return content;
}

function parse(text: string, file: string): { format: number } {
  try {
    const content = JSON.parse(text);
    if (Number.isInteger(content?.format)) return content;
  } catch (cause) {
    throw new CliError(`${file} is not valid JSON; restore it from a copy of the directory`, { cause });
  }
  throw new CliError(`${file} has no format; is its folder the data directory of a cluster?`);
}
