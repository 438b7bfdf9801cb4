/** Moves away log files that have become too large, as kubelet does. */
import { basename, dirname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import { createReadStream, createWriteStream, lstat, readdir, rename, rm } from '../../base/files/own/own-files.ts';
import type { Logger } from '../../base/log.ts';
import type { Runtime } from '../runtime/runtime.ts';

interface RotationLimits {
  readonly maxBytes: number;
  /** Files of one container, the current one included. */
  readonly maxFiles: number;
}

/** Defaults of kubelet. */
const DEFAULT_LIMITS: RotationLimits = { maxBytes: 10 * 1024 * 1024, maxFiles: 5 };

export interface Rotation extends Partial<RotationLimits> {
  /** Milliseconds since the epoch. */
  readonly now: number;
  /** Has the writer open the file anew. */
  reopen(): Promise<void>;
}

/** Rotates the logs of all running containers that are too large. A log that cannot be rotated does not hold back the others. */
export async function rotateLogs(
  runtime: Pick<Runtime, 'containers' | 'reopenLog'>,
  { now, log, ...limits }: Partial<RotationLimits> & { readonly now: number; readonly log: Logger },
): Promise<void> {
  for (const { id, state, logPath } of await runtime.containers()) {
    if (state !== 'running') continue;
    const reopen = () => runtime.reopenLog(id);
    await rotateLog(logPath, { ...limits, now, reopen }).catch((error: unknown) => {
      log.warn('a log cannot be rotated', { file: logPath, error: String(error) });
    });
  }
}

/** Rotates a log that is too large; whether it was. Older files are compressed, the oldest ones removed. */
export async function rotateLog(path: string, { now, reopen, ...limits }: Rotation): Promise<boolean> {
  const { maxBytes, maxFiles } = { ...DEFAULT_LIMITS, ...limits };
  const current = await lstat(path).catch(() => undefined);
  if (!current?.isFile() || current.size < maxBytes) return false;
  const older = await rotatedFiles(path);
  // Together with the current file and the one that it becomes.
  const kept = Math.max(0, maxFiles - 2);
  for (const file of older.slice(0, Math.max(0, older.length - kept))) await rm(file, { force: true });
  for (const file of older.slice(-kept || older.length)) if (!file.endsWith('.gz')) await compress(file);
  const moved = `${path}.${stamp(now)}`;
  await rename(path, moved);
  try {
    await reopen();
  } catch (error) {
    // Otherwise its lines would go into a file that nobody reads.
    await rename(moved, path);
    throw error;
  }
  return true;
}

/** Removes the files of a container, rotated ones included. */
export async function removeLogs(path: string): Promise<void> {
  for (const file of [path, ...(await rotatedFiles(path))]) await rm(file, { force: true });
}

/** Oldest first: their names end with the time of their rotation. */
async function rotatedFiles(path: string): Promise<string[]> {
  const directory = dirname(path);
  const prefix = `${basename(path)}.`;
  const names = await readdir(directory).catch(() => []);
  const found = names.filter((name) => name.startsWith(prefix));
  // Remove leftovers of an interrupted run.
  for (const name of found.filter((each) => each.endsWith('.tmp'))) await rm(join(directory, name), { force: true });
  return found
    .filter((name) => !name.endsWith('.tmp'))
    .sort()
    .map((name) => join(directory, name));
}

async function compress(file: string): Promise<void> {
  const unfinished = `${file}.tmp`;
  await pipeline(createReadStream(file), createGzip(), createWriteStream(unfinished));
  await rename(unfinished, `${file}.gz`);
  await rm(file);
}

/** `20300101-000000.000`: names sort by time. */
function stamp(now: number): string {
  const [date = '', time = ''] = new Date(now).toISOString().split('T');
  return `${date.replaceAll('-', '')}-${time.replaceAll(':', '').replace('Z', '')}`;
}
