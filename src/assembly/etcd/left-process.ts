/**
 * A member that outlived its server, which was killed. It is found by its command line, which names a file of the data directory, whose
 * lock this process holds: two processes would otherwise wait for each other on one directory of etcd's.
 */
import { readdir, readFile, stat } from 'node:fs/promises';
import { type ProcessIdentity, processIdentity } from '../../base/programs/process-identity.ts';
import { type Clock, sleep } from '../../base/time/clock.ts';
import type { MemberPaths } from './paths.ts';

/** How often a process is checked for its end: Node cannot wait for a process that it has not started. */
const CHECK_INTERVAL_MS = 50;
const STOP_TIMEOUT_MS = 10_000;

/** How etcd is told of a member; also what it is recognized by. */
export const memberArguments = ({ configuration }: MemberPaths) => ['--config-file', configuration] as const;

/** Ends an etcd that outlived the server of a data directory. The caller holds its lock. Resolves with the ids of processes. */
export function endLeftMember(paths: MemberPaths, clock: Clock): Promise<readonly number[]> {
  return endLeftProcesses(memberArguments(paths), clock);
}

/** Reports whether the member of a data directory runs, as a process of this user. */
export async function isMemberRunning(paths: MemberPaths): Promise<boolean> {
  return (await processesWith(memberArguments(paths))).length > 0;
}

/** Ends the processes of this user that were started with these arguments. Resolves with their ids. */
async function endLeftProcesses(args: readonly string[], clock: Clock): Promise<readonly number[]> {
  const left = await processesWith(args);
  await Promise.all(left.map((each) => endProcess(each, clock)));
  return left.map(({ pid }) => pid);
}

async function processesWith(args: readonly string[]): Promise<readonly ProcessIdentity[]> {
  const names = (await readdir('/proc').catch((): string[] => [])).filter((name) => /^\d+$/.test(name));
  const found = await Promise.all(
    names.map(async (name) => {
      const [commandLine, owner] = await Promise.all([
        readFile(`/proc/${name}/cmdline`, 'utf8').catch(() => ''),
        stat(`/proc/${name}`).catch(() => undefined),
      ]);
      const [, ...its] = commandLine.split('\0').slice(0, -1);
      const isOurs = owner?.uid === process.getuid?.() && its.length === args.length;
      return isOurs && its.every((each, index) => each === args[index]) ? [await processIdentity(Number(name))] : [];
    }),
  );
  return found.flat().filter(({ started }) => started !== '');
}

async function endProcess(identity: ProcessIdentity, clock: Clock): Promise<void> {
  const isAlive = async () => (await processIdentity(identity.pid)).started === identity.started;
  for (const signal of ['SIGTERM', 'SIGKILL'] as const) {
    if (await isAlive()) kill(identity.pid, signal);
    const deadline = clock.now() + STOP_TIMEOUT_MS;
    while (clock.now() < deadline) {
      if (!(await isAlive())) return;
      await sleep(clock, CHECK_INTERVAL_MS);
    }
  }
}

function kill(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error; // It has ended meanwhile.
  }
}
