/**
 * Identifies processes by the boot of the machine and their start time, because process ids are reused. Linux has both
 * in /proc. Elsewhere `ps` knows the start time, to the second.
 */
import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';

export interface ProcessIdentity {
  readonly pid: number;
  /** Identifies the boot of the machine; empty when unknown. */
  readonly boot: string;
  /** Start time of the process; empty when there is no such process, or when it is a zombie. */
  readonly started: string;
}

export async function processIdentity(pid: number): Promise<ProcessIdentity> {
  const boot = (await readFile('/proc/sys/kernel/random/boot_id', 'utf8').catch(ignoreMissing))?.trim();
  if (boot === undefined) return { pid, boot: '', started: await startAccordingToPs(pid) };
  const text = await readFile(`/proc/${pid}/stat`, 'utf8').catch(ignoreMissing);
  // The name, in parentheses, may contain anything; after it come the state and, 19 fields on, the start time.
  const fields = text?.slice(text.lastIndexOf(')') + 2).split(' ');
  const gone = fields === undefined || fields[0] === 'Z' || fields[0] === 'X';
  return { pid, boot, started: gone ? '' : (fields[19] ?? '') };
}

/** Returns an empty string when the process does not exist, or is a zombie. */
export async function startAccordingToPs(pid: number): Promise<string> {
  try {
    const { stdout } = await promisify(execFile)('/bin/ps', ['-o', 'stat=,lstart=', '-p', String(pid)], {
      env: { LC_ALL: 'C', TZ: 'UTC' },
    });
    const [, state = '', started = ''] = /^\s*(\S+)\s+(.*?)\s*$/.exec(stdout) ?? [];
    return /^[ZX]/.test(state) ? '' : started;
  } catch (error) {
    // ps exits with 1 when there is no such process. Without ps, only the existence of the process is known.
    return (error as { code?: unknown }).code === 1 || !exists(pid) ? '' : 'unknown';
  }
}

function exists(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

/** ESRCH is the error for a file in /proc whose process has ended. */
function ignoreMissing(error: unknown): undefined {
  const { code } = error as NodeJS.ErrnoException;
  if (code !== 'ENOENT' && code !== 'ESRCH') throw error;
}
