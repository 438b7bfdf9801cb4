/** `qd backup ls`. */
import { listBackups } from '../../../backup/keeping/cluster-backups.ts';
import { systemClock } from '../../../base/time/clock.ts';
import { print } from '../../output/print.ts';
import { table } from '../../output/table.ts';
import { backupLocation, explained, openBackupTarget } from '../../up/store/backups/targets.ts';
import { clusterOf } from './cluster.ts';
import type { ListFlags } from './flags.ts';
import { ageText, bytesText } from './text.ts';

const HEADER = ['NAME', 'CLUSTER', 'KIND', 'TIME', 'AGE', 'SIZE'];

export async function list(flags: ListFlags): Promise<void> {
  const cluster = flags.from === undefined ? await clusterOf(flags) : undefined;
  const location = flags.from ?? backupLocation(cluster!.settings, cluster!.directory);
  const target = await openBackupTarget(location);
  const backups = await listBackups(target, cluster?.name).catch((error: unknown) => {
    throw explained(error);
  });
  if (flags.json) {
    const times = backups.map((each) => ({ ...each, time: new Date(each.time).toISOString() }));
    return print(JSON.stringify(times, undefined, 2));
  }
  if (backups.length === 0) return print(`There are no backups in ${target.name}. qd backup now takes one.`);
  const now = systemClock.now();
  const rows = backups.map(({ name, cluster: of, kind, time, bytes }) => {
    const stamp = new Date(time).toISOString().replace('.000', '');
    return [name, of, kind, stamp, ageText(now - time), bytesText(bytes)];
  });
  print(...table([HEADER, ...rows]));
}
