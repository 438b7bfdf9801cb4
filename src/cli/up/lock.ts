/**
 * Keeps a second program out of a data directory. Node has no file locks, so the lock is a file that names its holder:
 * a process id and, where /proc tells it, when that process started, because ids are used again. A holder that is gone
 * has left the lock behind, and the next start takes it over.
 */
import { link, rename, unlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { CliError } from '../cli-error.ts';
import { readIfThere } from '../files.ts';

export interface Lock {
  release(): Promise<void>;
}

interface Holder {
  readonly pid: number;
  readonly started?: string;
}

export async function takeLock(directory: string): Promise<Lock> {
  const file = join(directory, 'lock');
  // Linked into place whole: nobody ever sees a lock without its holder.
  const own = join(directory, `lock.${process.pid}`);
  const content = JSON.stringify(await describe(process.pid));
  await writeFile(own, content, { mode: 0o600 });
  try {
    while (!(await linked(own, file))) await evict(file, directory);
  } finally {
    await unlink(own);
  }
  return {
    async release() {
      if ((await readIfThere(file)) === content) await unlink(file);
    },
  };
}

async function linked(own: string, file: string): Promise<boolean> {
  try {
    await link(own, file);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
}

/** Takes away the lock of a holder that is gone; fails when the holder lives. */
async function evict(file: string, directory: string): Promise<void> {
  await failIfHeld(await readIfThere(file), directory);
  const moved = `${file}.gone.${process.pid}`;
  try {
    await rename(file, moved);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return;
    throw error;
  }
  try {
    // Another program may have done the same and already hold the lock that was moved away just now.
    await failIfHeld(await readIfThere(moved), directory);
  } catch (error) {
    await link(moved, file);
    throw error;
  } finally {
    await unlink(moved);
  }
}

async function failIfHeld(content: string | undefined, directory: string): Promise<void> {
  const holder = content === undefined ? undefined : parseHolder(content);
  if (!holder || !isAlive(holder.pid)) return;
  const now = await describe(holder.pid);
  if (holder.started !== undefined && now.started !== undefined && holder.started !== now.started) return;
  throw new CliError(
    `${directory} is in use by process ${holder.pid}; stop that one, or choose another with --name or --data-dir`,
  );
}

function parseHolder(content: string): Holder | undefined {
  try {
    const holder = JSON.parse(content);
    return Number.isInteger(holder?.pid) ? holder : undefined;
  } catch {
    return undefined; // Not a lock of ours: nobody holds it.
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

async function describe(pid: number): Promise<Holder> {
  const stat = await readIfThere(`/proc/${pid}/stat`);
  // The program's name, in parentheses, may hold anything; the start time is the 20th field behind it.
  const started = stat?.slice(stat.lastIndexOf(')') + 2).split(' ')[19];
  return started === undefined ? { pid } : { pid, started };
}
