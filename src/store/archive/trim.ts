import type { ArchiveDatabase, RemovedVersion } from './database.ts';

/** The bounds of the archive. What is beyond any of them is deleted. */
export interface TrimGoal {
  /** Deletes changes from this time or before. */
  readonly time: number;
  /** Keeps changes after this time, whatever their size. */
  readonly youngest: number;
  /** Deletes changes up to and including this revision. */
  readonly revision: number;
  /** Bytes to free, about; 0: none. */
  readonly excess: number;
}

export interface TrimPlan {
  readonly removed: readonly RemovedVersion[];
  /** The oldest state that can be read afterwards, and its time. */
  readonly oldest: number;
  readonly oldestTime: number;
  /** True when the goal is not reached. */
  readonly more: boolean;
  /** True when the newest deleted change was due only because of the size. */
  readonly isBySize: boolean;
}

/** What a version takes besides its value: keys and the rest of its pages. */
const BYTES_PER_VERSION = 300;
/** Values are compressed, about to this share. */
const COMPRESSED = 0.5;

/**
 * Plans one step towards the goal: complete revisions from the oldest on, about `budget` of them at most.
 *
 * Deleting a change removes the version that it replaced, because no state that can be read has it any more. The version that it wrote
 * stays while it is the newest of its key at the oldest state, unless it is a deletion.
 */
export function planTrim(database: ArchiveDatabase, goal: TrimGoal, budget: number): TrimPlan {
  const removed: RemovedVersion[] = [];
  const { oldest: from, oldestTime, position } = database.state;
  let [oldest, time] = [from, oldestTime];
  let left = budget;
  let freed = 0;
  let isBySize = false;
  for (const { version, ...place } of database.log({ start: { revision: from + 1, index: 0 } })) {
    const { revision } = place;
    if (revision > position) break;
    if (revision !== oldest) {
      const isDue = version !== undefined && (version.time <= goal.time || revision <= goal.revision);
      const isTooMuch = freed < goal.excess && version !== undefined && version.time <= goal.youngest;
      if (!isDue && !isTooMuch) break;
      if (left <= 0) return { removed, oldest, oldestTime: time, more: true, isBySize };
      isBySize = !isDue;
      oldest = revision;
      time = version?.time ?? time;
    }
    left--;
    // A damaged record does not tell what it replaced, so that stays.
    if (!version) continue;
    const { key, value } = version;
    const before = version.isBase ? undefined : database.newest(key, revision - 1);
    if (before) removed.push({ key, revision: before.revision, index: before.index });
    if (value === null) removed.push({ key, ...place });
    // The replaced version was about as large.
    freed +=
      (before ? BYTES_PER_VERSION + (value?.length ?? 0) * COMPRESSED : 0) + (value === null ? BYTES_PER_VERSION : 0);
  }
  const bound = Math.min(Math.max(oldest, goal.revision), position);
  return { removed, oldest: bound, oldestTime: time, more: false, isBySize };
}
