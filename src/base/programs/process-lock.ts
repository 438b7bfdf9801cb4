/**
 * A lock that is released when its process ends. Node has no file locks, so the lock is a file that names its holder:
 * the process, its start time (process ids are reused), and the locked subject (a copy of that is not locked). The file
 * exists until a clean release. One whose process has ended is ignored, so that a start after SIGKILL or a power cut
 * succeeds.
 */
import { createHash } from 'node:crypto';
import { link, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { ifMissing } from '../files/if-missing.ts';
import { type ProcessIdentity, processIdentity } from './process-identity.ts';

interface Holder extends ProcessIdentity {
  /** Identifies the locked file or directory; its copies have another identity. */
  readonly subject: string;
  readonly purpose?: string;
}

export interface ProcessLock {
  release(): Promise<void>;
}

export interface ProcessLockOptions {
  /** The lock file. */
  readonly path: string;
  /** The file or directory that is locked. */
  readonly subject: string;
  /** The purpose of the lock, shown to processes that find it held. */
  readonly purpose?: string;
  /** Called when the lock file names another subject: the directory is a copy that includes the lock. */
  readonly onCopy?: () => Promise<void>;
}

/** A running process holds the lock. */
export class LockHeld extends Error {
  override readonly name = 'LockHeld';
  constructor(readonly holder: LockHolder) {
    super(`process ${holder.pid} holds the lock`);
  }

  get pid(): number {
    return this.holder.pid;
  }
}

export interface LockHolder {
  readonly pid: number;
  readonly purpose: string | undefined;
  /** Reports whether this very process still runs: false when its id was reused. */
  isAlive(): Promise<boolean>;
}

/** Finds the running process that holds a lock, without taking it. */
export async function findLockHolder({
  path,
  subject,
}: Pick<ProcessLockOptions, 'path' | 'subject'>): Promise<LockHolder | undefined> {
  const holder = (await readHolder(path))?.holder;
  if (!holder || holder.subject !== (await fileIdentity(subject)) || !(await isAlive(holder))) return undefined;
  return holderOf(holder);
}

function holderOf(holder: Holder): LockHolder {
  return { pid: holder.pid, purpose: holder.purpose, isAlive: () => isAlive(holder) };
}

/** Counter that makes the names of temporary files unique within the process. */
let attempts = 0;

/** Takes the lock. Rejects with LockHeld. */
export async function takeProcessLock({ path, subject, purpose, onCopy }: ProcessLockOptions): Promise<ProcessLock> {
  const identity = { ...(await processIdentity(process.pid)), subject: await fileIdentity(subject) };
  const mine: Holder = purpose === undefined ? identity : { ...identity, purpose };
  const draft = `${path}.${process.pid}.${++attempts}`;
  const own = JSON.stringify(mine);
  await writeFile(draft, own, { mode: 0o600 });
  try {
    while (!(await tryLink(draft, path))) {
      const found = await readHolder(path);
      if (!found) continue;
      const { holder, text } = found;
      if (holder?.subject !== mine.subject) await onCopy?.();
      else if (await isAlive(holder)) throw new LockHeld(holderOf(holder));
      await removeStale(path, text, draft);
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

/** Removes a stale lock, which only the process that claimed it may do: no valid lock can replace it meanwhile. */
async function removeStale(path: string, text: string, draft: string): Promise<void> {
  const claim = `${path}.${createHash('sha256').update(text).digest('hex').slice(0, 16)}`;
  if (await tryLink(draft, claim)) {
    if ((await readHolder(path))?.text === text) await rm(path, { force: true });
    await rm(claim, { force: true });
    return;
  }
  const claimant = (await readHolder(claim))?.holder;
  if (claimant && !(await isAlive(claimant))) await rm(claim, { force: true });
}

/** Links the lock file, and returns whether it was created. A link appears with its content, or not at all. */
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
  const text = await readFile(path, 'utf8').catch(ifMissing);
  if (text === undefined) return undefined;
  try {
    const holder = JSON.parse(text);
    return { text, holder: Number.isInteger(holder?.pid) ? holder : undefined };
  } catch {
    return { text, holder: undefined }; // Not a lock file, so it has no holder.
  }
}

async function isAlive(holder: Holder): Promise<boolean> {
  const { boot, started } = await processIdentity(holder.pid);
  return started !== '' && boot === holder.boot && started === holder.started;
}

/** Identifies a file by its inode, and its birth time where the file system has it: no copy has both. */
async function fileIdentity(path: string): Promise<string> {
  const { ino, birthtimeNs } = await stat(path, { bigint: true });
  return `${ino}.${birthtimeNs}`;
}
