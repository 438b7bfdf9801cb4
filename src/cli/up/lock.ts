/**
 * Keeps a second program out of a data directory. Node has no file locks, so the lock is a file that names its holder:
 * the process, when it started (ids are used again), and the directory that it locked (a copy of it is not locked). A
 * holder that is gone has left the lock behind, and the next start takes it over.
 */
import { link, rename, stat, unlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { CliError } from '../cli-error.ts';
import { readIfThere } from '../files.ts';

export interface Lock {
  release(): Promise<void>;
}

interface Holder {
  readonly pid: number;
  readonly started: string;
  readonly directory: string;
}

export async function takeLock(directory: string): Promise<Lock> {
  const file = join(directory, 'lock');
  // Linked into place whole: nobody ever sees a lock without its holder.
  const own = join(directory, `lock.${process.pid}`);
  const { ino, birthtimeMs } = await stat(directory);
  const holder: Holder = {
    pid: process.pid,
    started: (await startOf(process.pid)) ?? '',
    directory: `${ino}.${birthtimeMs}`,
  };
  const content = JSON.stringify(holder);
  await writeFile(own, content, { mode: 0o600 });
  try {
    while (!(await linked(own, file))) await evict(file, directory, holder);
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
async function evict(file: string, directory: string, own: Holder): Promise<void> {
  await failIfHeld(await readIfThere(file), directory, own);
  const moved = `${file}.gone.${process.pid}`;
  try {
    await rename(file, moved);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return;
    throw error;
  }
  try {
    // Another program may have done the same and already hold the lock that was moved away just now.
    await failIfHeld(await readIfThere(moved), directory, own);
  } catch (error) {
    await link(moved, file);
    throw error;
  } finally {
    await unlink(moved);
  }
}

async function failIfHeld(content: string | undefined, directory: string, own: Holder): Promise<void> {
  const holder = content === undefined ? undefined : parseHolder(content);
  if (!holder || holder.directory !== own.directory) return;
  if (holder.started !== (await startOf(holder.pid))) return;
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

/** When a process started, in the system's own units; undefined when there is none, or only its remains. */
async function startOf(pid: number): Promise<string | undefined> {
  if ((await readIfThere('/proc/self/stat')) === undefined) return exists(pid) ? '' : undefined;
  const text = await readIfThere(`/proc/${pid}/stat`);
  // The program's name, in parentheses, may hold anything; behind it come the state and, 19 fields on, the start.
  const [state, ...fields] = text?.slice(text.lastIndexOf(')') + 2).split(' ') ?? [];
  return state === 'Z' || state === 'X' ? undefined : fields[18];
}

/** All there is to ask on a system without /proc. */
function exists(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
