/** The backups of one cluster at a target that others may share. */
import { type BackupName, parseBackupName } from '../names.ts';
import type { BackupTarget, TargetFile } from '../target.ts';

export interface ClusterBackup extends BackupName {
  readonly name: string;
  readonly bytes: number;
}

/** Lists backups, oldest first: those of a cluster, or of all. */
export async function listBackups(
  target: Pick<BackupTarget, 'list'>,
  cluster?: string,
  signal?: AbortSignal,
): Promise<readonly ClusterBackup[]> {
  const files = await target.list(signal);
  return files
    .flatMap(backupIn)
    .filter((backup) => cluster === undefined || backup.cluster === cluster)
    .sort((a, b) => a.time - b.time || (a.name < b.name ? -1 : 1));
}

function backupIn({ name, bytes }: TargetFile): ClusterBackup[] {
  const parsed = parseBackupName(name);
  return parsed ? [{ ...parsed, name, bytes }] : [];
}

/** Servers may have clocks that differ, and the history of the next backup must not begin later than this one. */
const OVERLAP_MS = 60_000;

/**
 * When the history of the next backup begins. Those of a schedule continue the one before; a daily one continues the daily one before, so
 * that hourly ones between them can be removed. Manual ones may be removed at any time, so none continues them.
 */
export function historyStart(backups: readonly ClusterBackup[], kind: BackupName['kind']): number {
  const continued = backups.filter((each) => (kind === 'daily' ? each.kind === 'daily' : each.kind !== 'manual'));
  return Math.max(0, Math.max(0, ...continued.map(({ time }) => time)) - OVERLAP_MS);
}
