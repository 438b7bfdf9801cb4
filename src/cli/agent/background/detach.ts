/** `qd agent --detach`. */
import { existsSync } from 'node:fs';
import { runInBackground } from '../../process/background/in-background.ts';
import { takeLock } from '../../up/directory/lock.ts';
import type { GivenAgentFlags } from '../flags.ts';

export async function agentDetached({ dataDir }: Pick<GivenAgentFlags, 'dataDir'>): Promise<void> {
  // Rejects a directory that is in use before a log file is put into it.
  if (existsSync(dataDir)) await (await takeLock(dataDir)).release();
  await runInBackground(dataDir);
}
