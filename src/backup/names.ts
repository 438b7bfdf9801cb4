/** Names of backup files: `CLUSTER-20261119T230000Z-hourly.qdbackup`, with the suffix of sealed files. They sort by time. */
import type { BackupKind } from './retention.ts';
import { SEALED_SUFFIX } from './seal.ts';

export interface BackupName {
  readonly cluster: string;
  /** Milliseconds since the epoch, in whole seconds: not later than the moment that was saved. */
  readonly time: number;
  readonly kind: BackupKind;
  readonly isSealed: boolean;
}

const SUFFIX = '.qdbackup';
const PATTERN = /^(.+)-(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z-(hourly|daily|manual)\.qdbackup(\.age)?$/;

export function backupName({ cluster, time, kind, isSealed }: BackupName): string {
  const stamp = new Date(time).toISOString().replace(/\.\d+/, '').replace(/[-:]/g, '');
  return `${cluster}-${stamp}-${kind}${SUFFIX}${isSealed ? SEALED_SUFFIX : ''}`;
}

/** Returns undefined for files that are no backups. */
export function parseBackupName(name: string): BackupName | undefined {
  const [, cluster, year, month, day, hour, minute, second, kind, sealed] = PATTERN.exec(name) ?? [];
  if (cluster === undefined) return undefined;
  const time = Date.parse(`${year}-${month}-${day}T${hour}:${minute}:${second}Z`);
  if (Number.isNaN(time)) return undefined;
  return { cluster, time, kind: kind as BackupKind, isSealed: sealed !== undefined };
}
