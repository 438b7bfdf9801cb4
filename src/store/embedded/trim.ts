import type { Database } from './database.ts';
import { decodeRecord, type Position, type State } from './layout.ts';

/** What a store wants to be rid of. */
export interface TrimGoal {
  /** Changes made at this time, or before. */
  readonly time: number;
  /** The most bytes that history may hold. */
  readonly bytes: number;
  /** Everything up to and including this revision. */
  readonly revision: number;
}

export interface Trim {
  readonly removedRecords: readonly Position[];
  readonly removedEntries: readonly string[];
  readonly compacted: number;
  readonly historyBytes: number;
  /** When the oldest change that is left was made; undefined when none is left. */
  readonly oldest: number | undefined;
}

/** A record of this size counts for another change: reading it takes time. */
const LARGE = 16_384;

/**
 * One step towards the goal: whole revisions from the front of the log, about `budget` changes at most.
 *
 * Forgetting a change removes the record that it replaced, because nobody can ask for the time before it any more. The
 * change itself stays while it is the key's newest, unless it is a deletion: then the key goes from the index, too. So
 * a record is in the log for as long as some list or watch can reach it, and no longer.
 */
export function planTrim(database: Database, state: State, goal: TrimGoal, budget: number): Trim {
  const removedRecords: Position[] = [];
  const removedEntries: string[] = [];
  let { compacted, historyBytes } = state;
  let oldest: number | undefined;
  let left = budget;
  for (const [position, bytes] of database.records(state.compacted)) {
    const record = decodeRecord(bytes);
    const { revision } = position;
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
    left -= 1 + bytes.length / LARGE;
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
