import { ORIGIN_KEY } from '../../origin-row.ts';
import {
  decodeEntry,
  decodeState,
  EMPTY,
  ENTRY_BYTES,
  type Entry,
  isCreation,
  isDeletion,
  isIntact,
  keyIn,
  linkIn,
  POSITION_BYTES,
  type Position,
  readPosition,
  type State,
  VERSION_BYTES,
} from '../layout.ts';
import type { Meta } from './meta.ts';
import type { DataFile } from './page.ts';
import { checkStructure, VERSIONED } from './structure.ts';

/** A record whose checksum does not match. */
export interface DamagedRecord {
  /** The key; undefined for a change that only history needs, such as a replaced value. */
  readonly key: string | undefined;
  readonly revision: number;
}

export interface Contents {
  readonly state: State;
  /** Number of keys that are not deleted. */
  readonly keys: number;
  readonly records: number;
  readonly damaged: readonly DamagedRecord[];
}

/** A position as the key of a map: few commits have more than one write. */
type PositionId = number | string;

const idOf = ({ revision, index }: Position): PositionId => (index === 0 ? revision : `${revision}.${index}`);

/**
 * Checks the tables of this store in a data file: the index against the log, and every record against its checksum. A
 * damaged record concerns its key only, and is returned. Everything else throws: after it, nothing else can be trusted.
 */
export function checkContents(at: DataFile, meta: Meta): Contents {
  const check = new ContentsCheck();
  checkStructure(at, meta, {
    meta: { flags: VERSIONED, visit: (key, value) => check.state(key, value) },
    index: { flags: 0, visit: (key, value) => check.entry(key, value) },
    log: { flags: 0, visit: (key, value) => check.record(key, value) },
  });
  return check.done();
}

class ContentsCheck {
  #state: State = EMPTY;
  /** Entries of the index by position, until their records are found. */
  readonly #newest = new Map<PositionId, { readonly key: string; readonly entry: Entry }>();
  /** Records in history, until the changes that replaced them are found. */
  readonly #replaced = new Map<PositionId, { readonly key: string; readonly revision: number }>();
  readonly #damaged: DamagedRecord[] = [];
  #keys = 0;
  #records = 0;
  #last = 0;

  state(key: Buffer, row: Buffer): void {
    if (key.toString('latin1') !== 'state') throw new Error('there is an unknown row beside the state');
    const state = decodeState(row.subarray(VERSION_BYTES));
    if (!state || state.compacted > state.revision) throw new Error('the row of the state is damaged');
    this.#state = state;
  }

  entry(bytes: Buffer, row: Buffer): void {
    const key = bytes.toString();
    if (row.length !== ENTRY_BYTES) throw new Error(`the index entry of ${key} is damaged`);
    const entry = decodeEntry(row);
    const id = idOf(entry);
    const other = this.#newest.get(id);
    if (other) throw new Error(`the index entries of ${other.key} and ${key} refer to the same record`);
    this.#newest.set(id, { key, entry });
    if (!entry.deleted && key !== ORIGIN_KEY) this.#keys++;
  }

  record(bytes: Buffer, record: Buffer): void {
    if (bytes.length !== POSITION_BYTES) throw new Error('a key of the log is damaged');
    const position = readPosition(bytes, 0);
    const id = idOf(position);
    this.#records++;
    this.#last = position.revision;
    const found = this.#newest.get(id);
    this.#newest.delete(id);
    if (!isIntact(record)) {
      const isValue = found && !found.entry.deleted && found.key !== ORIGIN_KEY;
      this.#damaged.push({ key: isValue ? found.key : undefined, revision: position.revision });
      return;
    }
    const key = keyIn(record);
    const link = linkIn(record);
    if (found) {
      const { deleted, bytes: size } = found.entry;
      if (found.key !== key) throw new Error(`the index entry of ${found.key} refers to a record of ${key}`);
      if (deleted !== isDeletion(record) || size !== record.length)
        throw new Error(`the index entry of ${key} is damaged`);
    } else {
      this.#replaced.set(id, { key, revision: position.revision });
    }
    if (link && position.revision > this.#state.compacted) this.#follow(key, link, isCreation(record));
  }

  /**
   * Follows a change in history to the record that it replaced, which must exist; a deletion before it may have been
   * discarded.
   */
  #follow(key: string, link: Position, created: boolean): void {
    const id = idOf(link);
    const replaced = this.#replaced.get(id);
    this.#replaced.delete(id);
    if (replaced && replaced.key !== key) throw new Error(`a change of ${key} refers to a record of ${replaced.key}`);
    const isNeeded = !created || link.revision > this.#state.compacted;
    if (!replaced && isNeeded && this.#damaged.length === 0) {
      throw new Error(`the record that a change of ${key} replaced, at revision ${link.revision}, is missing`);
    }
  }

  done(): Contents {
    for (const { key, entry } of this.#newest.values()) {
      throw new Error(`the record of ${key}, at revision ${entry.revision}, is missing`);
    }
    if (this.#last > this.#state.revision) {
      throw new Error(`the log goes up to revision ${this.#last}, and the state says ${this.#state.revision}`);
    }
    // After a damaged record, its references cannot be told from unreferenced records. Below `compacted`, nobody reads
    // them.
    if (this.#damaged.length === 0) {
      for (const { key, revision } of this.#replaced.values()) {
        if (revision > this.#state.compacted) {
          throw new Error(`nothing refers to the record of ${key} at revision ${revision}`);
        }
      }
    }
    return { state: this.#state, keys: this.#keys, records: this.#records, damaged: this.#damaged };
  }
}
