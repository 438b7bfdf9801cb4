/** Finds keepers whose directory was removed, and ends them with what they keep. */
import { join } from 'node:path';
import { readIfThere } from '../../../base/files/own/files.ts';
import { deletedPath, processesWithoutLog } from '../../../base/programs/lost-processes.ts';
import { argumentsOf, descendantsOf, killIfRunning, runningPids } from '../../../base/programs/running-processes.ts';

export interface LostKeeper {
  readonly pid: number;
  readonly name: string;
  readonly podCidr: string;
  readonly directory: string;
}

export async function lostKeepers(): Promise<readonly LostKeeper[]> {
  const found = await Promise.all(
    (await processesWithoutLog('keeper.log')).map(async ({ pid, args, directory }): Promise<LostKeeper[]> => {
      const [name = '', podCidr = '', ownDirectory] = args.slice(-3);
      if (ownDirectory !== directory || (await keeperIn(directory)) === pid) return [];
      return [{ pid, name, podCidr, directory }];
    }),
  );
  return found.flat();
}

/** Only its log may be gone. */
async function keeperIn(directory: string): Promise<number> {
  return Number(await readIfThere(join(directory, 'keeper.pid')));
}

/** Kills a keeper, the supervisors of its containers, and what runs in them. Resolves before they have ended. */
export async function killLostKeeper({ pid, name, podCidr, directory }: LostKeeper): Promise<void> {
  const supervisors = await supervisorsOf(directory);
  const below = await descendantsOf([pid, ...supervisors]);
  // The id may be another process by now.
  if ((await argumentsOf(pid)).slice(-3).join('\0') !== [name, podCidr, directory].join('\0')) return;
  killIfRunning(pid);
  // Each has a process group of its own, with its container where that is a plain process.
  for (const supervisor of supervisors) killIfRunning(-supervisor);
  for (const each of below) killIfRunning(each);
}

/** Supervisors work in the directory of their container. */
async function supervisorsOf(directory: string): Promise<readonly number[]> {
  const containers = join(directory, 'containers');
  const found = await Promise.all(
    (await runningPids()).map(async (pid) => {
      const path = await deletedPath(`/proc/${pid}/cwd`).catch(() => undefined);
      return path?.startsWith(`${containers}/`) ? [pid] : [];
    }),
  );
  return found.flat();
}
