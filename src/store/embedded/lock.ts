import { createHash } from 'node:crypto';
import { link, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { StoreLocked } from './errors.ts';

/** Who has a directory open. The lock file says it from opening until a clean close. */
interface Holder {
  readonly pid: number;
  /** Which boot of the machine, and when in it the process began: a number may be given to another process later. */
  readonly boot: string;
  readonly started: string;
  /** The data file that was opened: a copy of the directory has another. */
  readonly file: string;
}

export interface Lock {
  release(): Promise<void>;
}

/** Stands in a directory that was copied with a lock in it, until the copy has been checked. */
export const COPIED = 'copied';

/** Makes the names of temporary files differ when one process opens a directory twice. */
let attempts = 0;

/**
 * Takes the lock of a directory, or rejects with StoreLocked. A lock whose process is gone counts for nothing, so that
 * a start after SIGKILL or a power cut succeeds at once. Programs that cannot see each other's processes, as in two
 * containers, are kept apart by the generation in the database (database.ts): the one that came first cannot write on.
 */
export async function takeLock(directory: string, dataFile: string): Promise<Lock> {
  const path = join(directory, 'lock');
  const mine: Holder = { ...(await processIdentity(process.pid)), file: await fileIdentity(dataFile) };
  const draft = `${path}.${process.pid}.${++attempts}`;
  const own = JSON.stringify(mine);
  await writeFile(draft, own, { mode: 0o600 });
  try {
    while (!(await tryLink(draft, path))) {
      const found = await readHolder(path);
      if (!found) continue;
      const { holder, text } = found;
      if (holder?.file !== mine.file) await writeFile(join(directory, COPIED), '', { mode: 0o600, flush: true });
      else if (await isAlive(holder)) throw new StoreLocked(directory, holder.pid);
      await takeAway(path, text, draft);
    }
  } finally {
    await rm(draft, { force: true });
  }
  return {
    async release() {
      if ((await readHolder(path))?.text === own) await rm(path, { force: true });
    },
  };
}

/**
 * Removes a lock that counts for nothing. Only whoever has the claim to that very lock may: between the look and the
 * removal nobody else can put a living lock in its place.
 */
async function takeAway(path: string, text: string, draft: string): Promise<void> {
  const claim = `${path}.${createHash('sha256').update(text).digest('hex').slice(0, 16)}`;
  if (await tryLink(draft, claim)) {
    if ((await readHolder(path))?.text === text) await rm(path, { force: true });
    await rm(claim, { force: true });
    return;
  }
  const claimant = (await readHolder(claim))?.holder;
  if (claimant && !(await isAlive(claimant))) await rm(claim, { force: true });
}

/** Whether the file is ours now. A link appears whole, with its contents, or not at all. */
async function tryLink(draft: string, path: string): Promise<boolean> {
  try {
    await link(draft, path);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
}

async function readHolder(path: string): Promise<{ text: string; holder: Holder | undefined } | undefined> {
  const text = await readFile(path, 'utf8').catch(ignoreMissing);
  if (text === undefined) return undefined;
  try {
    return { text, holder: JSON.parse(text) };
  } catch {
    return { text, holder: undefined };
  }
}

async function isAlive(holder: Holder): Promise<boolean> {
  const { boot, started } = await processIdentity(holder.pid);
  return started !== '' && boot === holder.boot && started === holder.started;
}

/** `started` is empty when there is no such process. */
async function processIdentity(pid: number): Promise<Omit<Holder, 'file'>> {
  const boot = (await readFile('/proc/sys/kernel/random/boot_id', 'utf8').catch(ignoreMissing))?.trim();
  // Without /proc, that a process with this number exists must do.
  if (boot === undefined) return { pid, boot: '', started: exists(pid) ? 'unknown' : '' };
  const text = await readFile(`/proc/${pid}/stat`, 'utf8').catch(ignoreMissing);
  // The name, in parentheses, may hold anything; behind it come the state and, 19 fields on, the start.
  const fields = text?.slice(text.lastIndexOf(')') + 2).split(' ');
  const gone = fields === undefined || fields[0] === 'Z' || fields[0] === 'X';
  return { pid, boot, started: gone ? '' : (fields[19] ?? '') };
}

function exists(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

/** A file's inode, and its birth where the file system tells it: no copy has both. */
async function fileIdentity(path: string): Promise<string> {
  const { ino, birthtimeNs } = await stat(path, { bigint: true });
  return `${ino}.${birthtimeNs}`;
}

function ignoreMissing(error: unknown): undefined {
  const { code } = error as NodeJS.ErrnoException;
  if (code !== 'ENOENT' && code !== 'ESRCH') throw error;
}
