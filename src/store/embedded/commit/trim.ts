import type { Database } from '../database.ts';
import { decodeRecord, type Position, type State } from '../layout.ts';

/** The bounds of history. Changes beyond any of them are discarded. */
export interface TrimGoal {
  /** Discards changes from this time or before. */
  readonly time: number;
  /** Maximum size of history, in bytes. */
  readonly bytes: number;
  /** Discards changes up to and including this revision. */
  readonly revision: number;
}

export interface Trim {
  readonly removedRecords: readonly Position[];
  readonly removedEntries: readonly string[];
  readonly compacted: number;
  readonly historyBytes: number;
  /** Time of the oldest remaining change; undefined when there is none. */
  readonly oldest: number | undefined;
}

/** Record size whose reading costs as much of the budget as another change. */
const BYTES_PER_CHANGE = 16_384;

/**
 * Plans one step towards the goal: complete revisions from the start of the log, about `budget` changes at most.
 *
 * Discarding a change removes the record that it replaced, because the state before it can no longer be read. The
 * change itself stays while it is the newest of its key, unless it is a deletion: then the key is removed from the
 * index, too. A record is therefore in the log exactly as long as a list or watch can reach it.
 */
export function planTrim(database: Database, state: State, goal: TrimGoal, budget: number): Trim {
  const removedRecords: Position[] = [];
  const removedEntries: string[] = [];
  let { compacted, historyBytes } = state;
  let oldest: number | undefined;
  let left = budget;
  for (const [position, bytes] of database.records(state.compacted)) {
    const { revision } = position;
    if (!bytes) {
      // A damaged record does not tell what it replaced, so that stays.
      left--;
      continue;
    }
    const record = decodeRecord(bytes);
    if (revision !== compacted) {
      const due = record.time <= goal.time || historyBytes > goal.bytes || revision <= goal.revision;
      if (!due || left <= 0) {
        oldest = record.time;
        // The goal may lie between two changes.
        if (!due) compacted = Math.max(compacted, goal.revision);
        break;
      }
      compacted = revision;
    }
    left -= 1 + bytes.length / BYTES_PER_CHANGE;
    historyBytes -= record.frees;
    if (record.link && !record.created) removedRecords.push(record.link);
    if (record.value === null) {
      removedRecords.push(position);
      const entry = database.entry(record.key);
      if (entry?.revision === revision && entry.index === position.index) removedEntries.push(record.key);
    }
  }
  if (oldest === undefined) compacted = Math.max(compacted, goal.revision);
  return { removedRecords, removedEntries, compacted, historyBytes, oldest };
}
