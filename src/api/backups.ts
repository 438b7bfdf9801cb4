/**
 * How administrators of a cluster have a server take a backup, and learn of those that it has taken:
 *
 *     GET  /backups          BackupStatus
 *     POST /backups?id=ID    begins a backup, and answers the same; one with the same ID begins nothing
 */

export const BACKUPS_PATH = '/backups';

export interface BackupStatus {
  /** Where backups go; undefined: the server takes none. */
  readonly target: string | undefined;
  /** True when they are taken by schedule. */
  readonly isScheduled: boolean;
  readonly isRunning: boolean;
  readonly newest: NamedBackup | undefined;
  /** Failures since the last success. */
  readonly failures: number;
  readonly lastFailure: string | undefined;
  /** Why the target cannot be listed. */
  readonly problem?: string | undefined;
  /** The last one that was asked for. */
  readonly request?: RequestedBackup | undefined;
}

interface NamedBackup {
  readonly name: string;
  /** Milliseconds since the epoch. */
  readonly time: number;
  readonly bytes: number;
}

export interface RequestedBackup {
  readonly id: string;
  readonly state: 'running' | 'done' | 'failed';
  /** How it has ended, for people. */
  readonly message: string;
  readonly taken?:
    | (NamedBackup & { readonly target: string; readonly objects: number; readonly damaged: number })
    | undefined;
}
