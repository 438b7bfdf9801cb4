/** `qd up --detach`. */
import { existsSync } from 'node:fs';
import { DEFAULT_NAME, directoryNamed } from '../../flags/cluster.ts';
import { runInBackground } from '../../process/background/in-background.ts';
import { openDirectory } from '../directory/directory.ts';
import type { GivenFlags } from '../settings/settle.ts';

export async function upDetached(flags: GivenFlags): Promise<void> {
  const directory = directoryNamed({ name: DEFAULT_NAME, ...flags });
  // Rejects a directory that is in use, or not ours, before a log file is put into it.
  if (existsSync(directory)) await (await openDirectory(directory)).release();
  await runInBackground(directory);
}
