/** Reads the history that goes into a backup, so that moments before it can be restored. */
import type { Archive } from '../../store/archive/archive.ts';
import type { HistoryRecord, SavedMoment } from '../file/content.ts';

/** The part of a cluster's archive that backups read. Values are as at rest. */
export type SavedArchive = Pick<Archive, 'bounds' | 'reached' | 'revisionAt' | 'get' | 'changes'>;

/** The oldest moment that a backup can contain whose history begins at this time. */
export function oldestSince(archive: SavedArchive, since: number): SavedMoment {
  const { oldest } = archive.bounds();
  return since <= oldest.time ? oldest : { time: since, revision: archive.revisionAt(since) };
}

/** Yields the changes between two revisions; before the first change of a key, the row that it replaced. */
export async function* historyBetween(
  archive: SavedArchive,
  after: number,
  until: number,
): AsyncGenerator<HistoryRecord> {
  const seen = new Set<string>();
  for await (const change of archive.changes({ after, until })) {
    const { key } = change;
    if (!seen.has(key)) {
      seen.add(key);
      const row = await archive.get(key, after);
      if (row) yield { type: 'earlier', row };
    }
    yield { type: 'change', change };
  }
}
