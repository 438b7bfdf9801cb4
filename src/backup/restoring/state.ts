/** Reads the state of a cluster from a backup: as it was saved, or as it was at an earlier moment. */
import type { BackupAbout, BackupEnd, SavedFiles, SavedRow } from '../file/content.ts';
import { BackupDamaged } from '../file/format.ts';
import { readBackup } from '../file/read.ts';
import { Rollback } from './rollback.ts';

export interface SavedState {
  readonly about: BackupAbout;
  readonly files: SavedFiles;
  /** In order of revision. */
  readonly rows: readonly SavedRow[];
  readonly end: BackupEnd;
  /** Number of changes that were undone to reach the moment. */
  readonly undone: number;
}

/** A moment that a backup does not reach. */
export class BackupBegins extends Error {
  override readonly name = 'BackupBegins';
}

/** Resolves when the backup was read and verified as a whole. `at` is in milliseconds since the epoch. */
export async function readState(content: AsyncIterable<Uint8Array>, at?: number): Promise<SavedState> {
  const rollback = at === undefined ? undefined : new Rollback(at);
  const rows: SavedRow[] = [];
  let about: BackupAbout | undefined;
  let files: SavedFiles = {};
  for await (const part of readBackup(content)) {
    switch (part.kind) {
      case 'about':
        about = part.about;
        if (at !== undefined) checkReach(about, at);
        break;
      case 'files':
        files = part.files;
        break;
      case 'changes':
        if (rollback) for (const record of part.records) rollback.add(record);
        break;
      case 'rows':
        for (const row of part.rows) if (rollback?.keeps(row) ?? true) rows.push(row);
        break;
      case 'end':
        if (!about) break;
        if (rollback) rows.push(...rollback.earlier());
        return { about, files, rows: ordered(rows, about), end: part.end, undone: rollback?.undone ?? 0 };
    }
  }
  throw new BackupDamaged('the backup is damaged: it has no end');
}

function checkReach({ time, oldest }: BackupAbout, at: number): void {
  const begin = oldest?.time ?? time;
  if (at >= begin && at <= time) return;
  const stamp = (ms: number) => new Date(ms).toISOString();
  throw new BackupBegins(
    `the backup has the moments from ${stamp(begin)} to ${stamp(time)}, and ${stamp(at)} is not among them`,
  );
}

/** Sorts rows as stores are filled with them. Throws when a key stands in the backup twice, or a row is newer than it. */
function ordered(rows: SavedRow[], { revision }: BackupAbout): SavedRow[] {
  const keys = new Set<string>();
  for (const { key, revision: found } of rows) {
    if (keys.has(key)) throw new BackupDamaged(`the backup is damaged: it has ${key} twice`);
    if (found > revision || found === 0)
      throw new BackupDamaged(`the backup is damaged: ${key} has revision ${found}, and the backup ${revision}`);
    keys.add(key);
  }
  return rows.sort((a, b) => a.revision - b.revision);
}
