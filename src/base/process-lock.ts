/**
 * A lock that dies with its process. Node has no file locks, so the lock is a file that names its holder: the process,
 * when it started (numbers are used again), and what it locked (a copy of that is not locked). It is there from taking it
 * until a clean release; one whose process is gone counts for nothing, so that a start after SIGKILL or a power cut
 * succeeds at once.
 */
import { createHash } from 'node:crypto';
import { link, readFile, rm, stat, writeFile } from 'node:fs/promises';

interface Holder {
  readonly pid: number;
  /** Which boot of the machine, and when in it the process began. */
  readonly boot: string;
  readonly started: string;
  /** What was locked, told from its copies. */
  readonly subject: string;
}

export interface ProcessLock {
  release(): Promise<void>;
}

export interface ProcessLockOptions {
  /** The lock file. */
  readonly path: string;
  /** The file or directory that is locked. */
  readonly subject: string;
  /** Told when the lock was made for something else: the place is a copy that was taken with the lock in it. */
  readonly onCopy?: () => Promise<void>;
}

/** A living process has the lock. */
export class LockHeld extends Error {
  override readonly name = 'LockHeld';
  constructor(readonly pid: number) {
    super(`process ${pid} has the lock`);
  }
}

/** Makes the names of temporary files differ when one process takes a lock twice. */
let attempts = 0;

/** Rejects with LockHeld. */
export async function takeProcessLock({ path, subject, onCopy }: ProcessLockOptions): Promise<ProcessLock> {
  const mine: Holder = { ...(await processIdentity(process.pid)), subject: await fileIdentity(subject) };
  const draft = `${path}.${process.pid}.${++attempts}`;
  const own = JSON.stringify(mine);
  await writeFile(draft, own, { mode: 0o600 });
  try {
    while (!(await tryLink(draft, path))) {
      const found = await readHolder(path);
      if (!found) continue;
      const { holder, text } = found;
      if (holder?.subject !== mine.subject) await onCopy?.();
      else if (await isAlive(holder)) throw new LockHeld(holder.pid);
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
    const holder = JSON.parse(text);
    return { text, holder: Number.isInteger(holder?.pid) ? holder : undefined };
  } catch {
    return { text, holder: undefined }; // No lock of ours: nobody holds it.
  }
}

async function isAlive(holder: Holder): Promise<boolean> {
  const { boot, started } = await processIdentity(holder.pid);
  return started !== '' && boot === holder.boot && started === holder.started;
}

/** `started` is empty when there is no such process, or only its remains. */
async function processIdentity(pid: number): Promise<Omit<Holder, 'subject'>> {
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

/** The inode, and its birth where the file system tells it: no copy has both. */
async function fileIdentity(path: string): Promise<string> {
  const { ino, birthtimeNs } = await stat(path, { bigint: true });
  return `${ino}.${birthtimeNs}`;
}

function ignoreMissing(error: unknown): undefined {
  const { code } = error as NodeJS.ErrnoException;
  if (code !== 'ENOENT' && code !== 'ESRCH') throw error;
}
