/** `qd service remove`. */
import { rm } from 'node:fs/promises';
import type { ClusterFlags } from '../../flags/cluster.ts';
import { systemctl } from './systemctl.ts';
import { chosenUnit } from './units.ts';

export async function remove(flags: ClusterFlags): Promise<void> {
  const { unit, file, directory } = await chosenUnit(flags);
  await systemctl('disable', '--now', unit);
  await rm(file, { force: true });
  await systemctl('daemon-reload');
  // One that has failed would be remembered.
  await systemctl('reset-failed', unit).catch(() => undefined);
  process.stdout.write(
    `Stopped and removed ${unit}. Its pods go on running: qd down --data-dir ${directory} ends them.\n`,
  );
}
