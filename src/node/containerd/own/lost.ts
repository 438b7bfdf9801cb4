/** Finds the containerd of a node, or what it left running, whose directory was removed. */
import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { processesWithoutLog } from '../../../base/programs/lost-processes.ts';
import type { ProcessIdentity } from '../../../base/programs/process-identity.ts';
import { argumentsOf, killIfRunning, runningPids } from '../../../base/programs/running-processes.ts';
import { exists } from './machine.ts';
import { ownPaths } from './paths.ts';

/** Where nodes keep their containerd. */
const OWN_SOCKET = /^\/.+\/nodes\/[^/]+\/containerd\/containerd\.sock$/;

/** Kills each such containerd, and resolves with the directories, whose pods still run. */
export async function killLostContainerds(): Promise<readonly string[]> {
  const daemons = await lostDaemons();
  for (const { pid } of daemons) killIfRunning(pid);
  return [...new Set([...daemons.map(({ directory }) => directory), ...(await directoriesOfShims())])];
}

async function lostDaemons() {
  const found = await Promise.all(
    (await processesWithoutLog('containerd.log')).map(async ({ pid, args, directory }) => {
      const { config, identity } = ownPaths(directory);
      if (args[args.indexOf('--config') + 1] !== config || (await pidIn(identity)) === pid) return [];
      return [{ pid, directory }];
    }),
  );
  return found.flat();
}

async function pidIn(identity: string): Promise<number | undefined> {
  const text = await readFile(identity, 'utf8').catch(() => undefined);
  return text === undefined ? undefined : (JSON.parse(text) as ProcessIdentity).pid;
}

/** Of a containerd that was killed before. */
async function directoriesOfShims(): Promise<readonly string[]> {
  const found = await Promise.all(
    (await runningPids()).map(async (pid) => {
      const args = await argumentsOf(pid);
      const socket = args[args.indexOf('-address') + 1] ?? '';
      if (!args[0]?.includes('containerd-shim') || !OWN_SOCKET.test(socket)) return [];
      const directory = dirname(socket);
      return (await exists(join(directory, 'config.toml'))) ? [] : [directory];
    }),
  );
  return found.flat();
}
