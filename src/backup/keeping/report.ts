/** What a server says about the backups that it takes. */
import type { BackupKind } from '../retention.ts';

export interface TakenBackup {
  readonly name: string;
  /** The target that it was written to. */
  readonly target: string;
  readonly kind: BackupKind;
  /** The moment that was saved: milliseconds since the epoch. */
  readonly time: number;
  readonly revision: number;
  /** Size of the file. */
  readonly bytes: number;
  readonly seconds: number;
  readonly objects: number;
  /** Number of objects that could not be read. */
  readonly damaged: number;
}

export interface FailedBackup {
  readonly kind: BackupKind;
  readonly time: number;
  readonly message: string;
}

export interface BackupReport {
  /** Where backups go. */
  readonly target: string;
  /** True while one is taken. */
  readonly isRunning: boolean;
  /** The newest one there, as far as this server knows: by its name. */
  readonly newest: { readonly name: string; readonly time: number; readonly bytes: number } | undefined;
  /** The last one that this server has taken since its start. */
  readonly last: TakenBackup | undefined;
  /** Failures since the last success. */
  readonly failures: number;
  readonly lastFailure: FailedBackup | undefined;
  /** Successes and failures since the start. */
  readonly taken: number;
  readonly failed: number;
}
