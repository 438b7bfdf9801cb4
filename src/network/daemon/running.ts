/** Finds the running daemons of a directory: one, and those that still finish requests after they were replaced. */
import { readdir, readFile, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { processIdentity } from '../../base/programs/process-identity.ts';
import { type Clock, sleep } from '../../base/time/clock.ts';
import { pidFile, SOCKET } from './calls.ts';

const PID_FILE = /^(\d+)\.pid$/;
const CHECK_MS = 25;
/** Ending takes a few milliseconds. */
const END_TIMEOUT_MS = 5_000;

/** Their process ids. */
export async function runningDaemons(directory: string): Promise<readonly number[]> {
  const pids = await pidsIn(directory);
  const found = await Promise.all(pids.map(async (pid) => ((await isDaemon(pid, directory)) ? pid : [])));
  return found.flat();
}

/** Returns the pids in the directory, including those of killed daemons. */
async function pidsIn(directory: string): Promise<readonly number[]> {
  const names = await readdir(directory).catch((): string[] => []);
  return names.map((name) => Number(PID_FILE.exec(name)?.[1])).filter((pid) => pid > 0);
}

/** Ends them, and resolves with how many there were. */
export async function endDaemons(directory: string, clock: Clock): Promise<number> {
  const pids = await runningDaemons(directory);
  for (const pid of pids) kill(pid, 'SIGTERM');
  const deadline = clock.now() + END_TIMEOUT_MS;
  for (const pid of pids) {
    while (await isDaemon(pid, directory)) {
      // It keeps nothing that could be lost.
      if (clock.now() > deadline) kill(pid, 'SIGKILL');
      await sleep(clock, CHECK_MS);
    }
  }
  for (const pid of await pidsIn(directory)) await rm(join(directory, pidFile(pid)), { force: true });
  await rm(join(directory, SOCKET), { force: true });
  return pids.length;
}

/** The process id may be that of another program by now. */
async function isDaemon(pid: number, directory: string): Promise<boolean> {
  if ((await processIdentity(pid)).started === '') return false;
  const [command, running, own] = await Promise.all([
    readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => ''),
    stat(`/proc/${pid}`).catch(() => undefined),
    stat(directory).catch(() => undefined),
  ]);
  return running !== undefined && running.uid === own?.uid && command.split('\0').includes(directory);
}

function kill(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    // It has ended meanwhile.
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}
