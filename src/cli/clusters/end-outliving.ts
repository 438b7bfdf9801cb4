/** Ends what outlives the program of a cluster, when that does not run: pods, what listens for them, and an etcd of its own. */
import { existsSync } from 'node:fs';
import { endLeftMember } from '../../assembly/etcd/left-process.ts';
import { memberPaths } from '../../assembly/etcd/paths.ts';
import type { EndNodesOptions } from '../../assembly/node/ending/end-nodes.ts';
import { nodesIn } from '../../assembly/node/node-file.ts';
import { daemonDirectory } from '../../assembly/threads/daemon-command.ts';
import { systemRandom } from '../../base/random.ts';
import { systemClock } from '../../base/time/clock.ts';
import { endDaemons, runningDaemons } from '../../network/daemon/running.ts';
import { createLogger } from '../output/logger.ts';

export async function endOutliving(dataDirectory: string, mode: EndNodesOptions['mode']): Promise<void> {
  const { endNodes } = await import('../../assembly/node/ending/end-nodes.ts');
  const tools = { clock: systemClock, random: systemRandom, log: createLogger('warn') };
  const ended = await endNodes({ ...tools, mode, dataDirectory, path: process.env.PATH ?? '' });
  await endDaemons(daemonDirectory(dataDirectory), systemClock);
  await endLeftMember(memberPaths(dataDirectory), systemClock);
  if (ended > 0) process.stdout.write(`Ended ${ended} ${ended === 1 ? 'pod' : 'pods'}.\n`);
}

/** Reports whether there may be something to end. */
export async function hasOutliving(dataDirectory: string): Promise<boolean> {
  const daemons = await runningDaemons(daemonDirectory(dataDirectory));
  return (
    daemons.length > 0 ||
    existsSync(memberPaths(dataDirectory).configuration) ||
    (await nodesIn(dataDirectory)).length > 0
  );
}
