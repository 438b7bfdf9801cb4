/** Ends the pods of a cluster whose program does not run: they outlive it. */

import { systemRandom } from '../../base/random.ts';
import { systemClock } from '../../base/time/clock.ts';
import type { EndNodesOptions } from '../agent/end-nodes.ts';
import { createLogger } from '../output/logger.ts';

export async function endPods(dataDirectory: string, mode: EndNodesOptions['mode']): Promise<void> {
  const { endNodes } = await import('../agent/end-nodes.ts');
  const tools = { clock: systemClock, random: systemRandom, log: createLogger('warn') };
  const ended = await endNodes({ ...tools, mode, dataDirectory, path: process.env.PATH ?? '' });
  if (ended > 0) process.stdout.write(`Ended ${ended} ${ended === 1 ? 'pod' : 'pods'}.\n`);
}
