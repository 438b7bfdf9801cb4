/** The processes of this machine, from /proc. */
import { readdir, readFile } from 'node:fs/promises';

export interface RunningProcess {
  readonly pid: number;
  readonly args: readonly string[];
}

/** Empty elsewhere than on Linux. */
export async function runningPids(): Promise<readonly number[]> {
  const names = await readdir('/proc').catch((): string[] => []);
  return names.filter((name) => /^\d+$/.test(name)).map(Number);
}

/** Resolves with the command line of a process; empty when it has ended. */
export async function argumentsOf(pid: number): Promise<readonly string[]> {
  const text = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '');
  return text.split('\0').slice(0, -1);
}

/** Resolves with what the processes have started, and what that has, without the processes themselves. */
export async function descendantsOf(parents: readonly number[]): Promise<readonly number[]> {
  const parentOf = new Map<number, number>();
  for (const pid of await runningPids()) {
    const text = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
    // The name, in parentheses, may contain anything; after it come the state and the parent.
    parentOf.set(pid, Number(text.slice(text.lastIndexOf(')') + 2).split(' ')[1]));
  }
  const found = new Set(parents);
  for (let size = 0; size !== found.size; ) {
    size = found.size;
    for (const [pid, parent] of parentOf) if (found.has(parent)) found.add(pid);
  }
  return [...found].filter((pid) => !parents.includes(pid));
}

/** Does nothing when the process has ended. A negative number stands for a process group. */
export function killIfRunning(pid: number, signal: NodeJS.Signals = 'SIGKILL'): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}
