/** Cgroups that root gives to a user for a test, as pam_cgfs does: version 1, where the machine has it. */
import { spawn } from 'node:child_process';
import { chownSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const CONTROLLERS = ['memory', 'cpu', 'pids'];
/** Waits for a process to end, and removes the folders when the keepers that it has started have ended, too. */
const CLEAN_UP = `
pid=$1; shift
while kill -0 "$pid" 2>/dev/null; do sleep 0.1; done
for folder; do
  tries=0
  until find "$folder" -depth -type d -exec rmdir {} + || [ "$tries" -ge 100 ]; do tries=$((tries + 1)); sleep 0.1; done
done 2>/dev/null
`;

/** Returns why cgroups cannot be delegated; undefined when they can. */
export function whyNoDelegation(): string | undefined {
  if (process.getuid?.() !== 0) return 'cgroups can only be delegated by root';
  const missing = CONTROLLERS.filter((controller) => mountOf(controller) === undefined);
  return missing.length === 0 ? undefined : `version 1 of cgroups has no ${missing.join(', ')} here`;
}

/** Moves this process to cgroups that belong to the user. They are removed when it has ended. */
export function delegateTo(uid: number): void {
  const folders = CONTROLLERS.map((controller) => join(mountOf(controller)!, `qd-delegated-${process.pid}`));
  // Not in these cgroups itself.
  spawn('/bin/sh', ['-c', CLEAN_UP, 'sh', String(process.pid), ...folders], {
    detached: true,
    stdio: 'ignore',
  }).unref();
  for (const folder of folders) {
    mkdirSync(folder);
    chownSync(folder, uid, uid);
    writeFileSync(join(folder, 'cgroup.procs'), String(process.pid));
  }
}

function mountOf(controller: string): string | undefined {
  const lines = readFileSync('/proc/self/mounts', 'utf8').split('\n');
  const found = lines
    .map((line) => line.split(' '))
    .find(([, , type, options]) => type === 'cgroup' && options?.split(',').includes(controller));
  return found?.[1];
}
