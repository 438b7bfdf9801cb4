/** Finds the running daemons of a directory: one, and those that still finish requests after they were replaced. */
import { existsSync } from 'node:fs';
import { readdir, readFile, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { processesWithoutLog } from '../../base/programs/lost-processes.ts';
import { processIdentity } from '../../base/programs/process-identity.ts';
import { killIfRunning } from '../../base/programs/running-processes.ts';
import { type Clock, sleep } from '../../base/time/clock.ts';
import { LOG_FILE, pidFile, SOCKET } from './calls.ts';

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
  for (const pid of pids) killIfRunning(pid, 'SIGTERM');
  const deadline = clock.now() + END_TIMEOUT_MS;
  for (const pid of pids) {
    while (await isDaemon(pid, directory)) {
      // It keeps nothing that could be lost.
      if (clock.now() > deadline) killIfRunning(pid);
      await sleep(clock, CHECK_MS);
    }
  }
  for (const pid of await pidsIn(directory)) await rm(join(directory, pidFile(pid)), { force: true });
  await rm(join(directory, SOCKET), { force: true });
  return pids.length;
}

/** Ends daemons whose directory was removed: nothing finds them any more. Resolves with how many there were. */
export async function endLostDaemons(): Promise<number> {
  const lost = await processesWithoutLog(LOG_FILE);
  const found = lost.filter(
    ({ pid, args, directory }) => args.at(-1) === directory && !existsSync(join(directory, pidFile(pid))),
  );
  for (const { pid } of found) killIfRunning(pid, 'SIGTERM');
  return found.length;
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
