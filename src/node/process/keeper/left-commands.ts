/** Commands of `exec` that a keeper which was killed has left: nobody reads what they write any more. */
import { readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { readPid } from './supervisor/pid-file.ts';

/** Ends those whose directories are in `streams`. `cgroup` is that of all pods: an id may be another process by now. */
export function endLeftCommands(streams: string, cgroup: string): void {
  for (const name of readdirSync(streams)) {
    const directory = join(streams, name);
    const pid = readPid(directory);
    if (pid !== undefined && cgroupsOf(pid).includes(`${cgroup}/`)) killGroup(pid);
    rmSync(directory, { recursive: true, force: true });
  }
}

function cgroupsOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cgroup`, 'utf8');
  } catch {
    return '';
  }
}

function killGroup(pid: number): void {
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // It has ended.
  }
}
