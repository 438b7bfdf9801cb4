/**
 * Finds programs that outlived their directory. Each writes its errors to a log in it: the kernel says that the file was deleted,
 * whatever path leads to it by now, and whether or not another directory has that path.
 */
import { readlink, stat } from 'node:fs/promises';
import { basename, dirname } from 'node:path';
import { argumentsOf, type RunningProcess, runningPids } from './running-processes.ts';

export interface LostProcess extends RunningProcess {
  /** The directory that its log was in. */
  readonly directory: string;
}

const STANDARD_ERROR = 2;
const DELETED = ' (deleted)';

/** Resolves with the processes of this user, outside of containers, whose log of this name was deleted. */
export async function processesWithoutLog(name: string): Promise<readonly LostProcess[]> {
  const found = await Promise.all((await runningPids()).map((pid) => lostProcess(pid, name)));
  return found.flat();
}

async function lostProcess(pid: number, name: string): Promise<LostProcess[]> {
  try {
    const log = await deletedPath(`/proc/${pid}/fd/${STANDARD_ERROR}`);
    if (log === undefined || basename(log) !== name || !(await isOfThisUser(pid))) return [];
    return [{ pid, args: await argumentsOf(pid), directory: dirname(log) }];
  } catch {
    return []; // It has ended, or belongs to another user.
  }
}

/** Where the file was that a link of /proc leads to; undefined: it is still there. */
export async function deletedPath(link: string): Promise<string | undefined> {
  const target = await readlink(link);
  if (!target.endsWith(DELETED) || (await stat(link)).nlink > 0) return undefined;
  return target.slice(0, -DELETED.length);
}

/** Reports whether a process is in the namespace of this kind that this process is in. */
export async function sharesNamespace(pid: number, kind: 'mnt' | 'net'): Promise<boolean> {
  const [own, other] = await Promise.all(['self', pid].map((each) => readlink(`/proc/${each}/ns/${kind}`)));
  return own === other;
}

/** A process of a container has another view of the files, and might imitate one of ours. */
async function isOfThisUser(pid: number): Promise<boolean> {
  const { uid } = await stat(`/proc/${pid}`);
  return uid === process.getuid?.() && (await sharesNamespace(pid, 'mnt'));
}
