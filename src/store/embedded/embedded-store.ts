import { setImmediate as turn } from 'node:timers/promises';
import { silent } from '../../base/log.ts';
import { HISTORY_BYTES, HISTORY_MILLISECONDS, type HistoryOptions } from '../history-options.ts';
import { compareKeys, prefixEnd } from '../keys.ts';
import { decodeOrigin, ORIGIN_KEY } from '../origin-row.ts';
import {
  type Change,
  type Condition,
  type ListOptions,
  type Origin,
  type Row,
  type Rows,
  type Store,
  StoreAhead,
  StoreCompacted,
  StoreDamaged,
  StoreUnavailable,
  type Subscription,
  type Watcher,
  type Write,
} from '../store.ts';
import { type HistoryPage, Watchers } from '../watchers.ts';
import { type CopiedChange, GroupCommit } from './commit/group-commit.ts';
import type { Reserve } from './commit/reserve.ts';
import type { Database, Snapshot } from './database.ts';
import {
  decodeRecord,
  type Entry,
  isCreation,
  type LogRecord,
  linkIn,
  type Position,
  type State,
  valueIn,
} from './layout.ts';

export interface EmbeddedStoreParts {
  readonly database: Database;
  readonly reserve: Reserve;
  readonly history: HistoryOptions;
  /** The earliest revision for lists and watches: earlier changes are damaged. */
  readonly historyFloor: number;
  /** Writes a copy of the store into a directory. */
  backup(directory: string): Promise<void>;
  /** Releases the lock of the directory, after everything else. */
  release(): Promise<void>;
}

/** A change whose origin has not been read yet. */
interface MutableChange extends Change {
  origin: Origin | undefined;
}

interface Reading {
  readonly revision: number;
  readonly snapshot?: Snapshot;
  readonly damaged?: ListOptions['damaged'];
}

/** Limit for the rows read in one turn of the event loop. */
const ROWS_PER_TURN = 1000;
const BYTES_PER_PAGE = 4 * 2 ** 20;

/** The store in a directory: reading, watching and closing. group-commit.ts does the writing. */
export class EmbeddedStore implements Store {
  readonly #database: Database;
  readonly #commits: GroupCommit;
  readonly #watchers: Watchers;
  /** Pending reads that span turns of the event loop, and need the file open. */
  readonly #reads = new Set<Promise<unknown>>();
  /** The newest revision that a reader has seen: the file may be ahead of the notification for its last flush. */
  #shown = 0;
  #closing: Promise<void> | undefined;

  constructor(private readonly parts: EmbeddedStoreParts) {
    const { database, reserve, history } = parts;
    const { clock, log = silent, historyMilliseconds = HISTORY_MILLISECONDS, historyBytes = HISTORY_BYTES } = history;
    this.#database = database;
    this.#watchers = new Watchers({ read: (after, limit) => this.#readHistory(after, limit) }, log);
    this.#commits = new GroupCommit({
      database,
      reserve,
      clock,
      historyMilliseconds,
      historyBytes,
      publish: (changes) => this.#watchers.publish(changes),
    });
  }

  revision(): number {
    return Math.max(this.#commits.revision, this.#shown);
  }

  async get(key: string): Promise<Row | undefined> {
    this.#checkOpen();
    const entry = this.#database.entry(key);
    return entry && this.#rowAt(key, entry, { revision: Number.POSITIVE_INFINITY });
  }

  async list(prefix: string, options: ListOptions = {}): Promise<Rows> {
    this.#checkOpen();
    const snapshot = this.#database.snapshot();
    const read = this.#list(prefix, options, snapshot).finally(() => {
      snapshot.done();
      this.#reads.delete(read);
    });
    this.#reads.add(read);
    return read;
  }

  async commit(writes: readonly Write[], conditions?: readonly Condition[], origin?: Origin): Promise<number> {
    this.#checkOpen();
    return this.#commits.commit(writes, conditions, origin);
  }

  /** Writes what another store has changed under a revision; only for a copy of it that nobody else writes to. */
  async append(revision: number, changes: readonly CopiedChange[]): Promise<void> {
    this.#checkOpen();
    await this.#commits.append(revision, changes);
  }

  watch(after: number, watcher: Watcher): Subscription {
    return this.#watchers.watch(after, watcher);
  }

  async compact(revision: number): Promise<void> {
    this.#checkOpen();
    await this.#commits.compact(revision);
  }

  /** Writes a copy into an empty or missing directory while the store is in use. The copy is a complete store. */
  async backup(directory: string): Promise<void> {
    this.#checkOpen();
    const copy = this.parts.backup(directory).finally(() => this.#reads.delete(copy));
    this.#reads.add(copy);
    await copy;
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    await this.#commits.close();
    await Promise.allSettled(this.#reads);
    this.#watchers.close();
    await this.parts.reserve.close();
    await this.#database.close();
    await this.parts.release();
  }

  async #list(prefix: string, options: ListOptions, snapshot: Snapshot): Promise<Rows> {
    const state = this.#show(this.#database.state(snapshot));
    const revision = options.revision ?? state.revision;
    this.#check(revision, state);
    const rows: Row[] = [];
    let left = ROWS_PER_TURN;
    for (const [key, entry] of this.#database.entries(startOf(prefix, options.after), prefixEnd(prefix), snapshot)) {
      if (key === options.after || key === ORIGIN_KEY) continue;
      const row = this.#rowAt(key, entry, { revision, snapshot, damaged: options.damaged });
      if (row && rows.length === options.limit) return { rows, revision, more: true };
      if (row) rows.push(row);
      if (--left === 0) {
        left = ROWS_PER_TURN;
        await turn();
        this.#checkOpen();
      }
    }
    return { rows, revision, more: false };
  }

  #rowAt(key: string, newest: Entry, { revision, snapshot, damaged }: Reading): Row | undefined {
    try {
      return this.#find(key, newest, revision, snapshot);
    } catch (error) {
      if (!damaged || !(error instanceof StoreDamaged)) throw error;
      damaged({ key, revision: newest.revision, error });
      return undefined;
    }
  }

  /** Finds the row of a key at a revision by following its changes backwards. */
  #find(key: string, newest: Entry, revision: number, snapshot: Snapshot | undefined): Row | undefined {
    if (newest.deleted && newest.revision <= revision) return undefined;
    let position: Position | undefined = newest;
    while (position) {
      const bytes: Buffer = this.#database.record(key, position, snapshot);
      if (position.revision <= revision) {
        const value = valueIn(bytes);
        return value ? { key, value, revision: position.revision } : undefined;
      }
      position = linkIn(bytes);
      // The preceding deletion may have been discarded.
      if (position && isCreation(bytes) && position.revision <= revision) return undefined;
    }
    return undefined;
  }

  #readHistory(after: number, limit: number): HistoryPage {
    const state = this.#show(this.#database.state());
    this.#check(after, state);
    const changes: MutableChange[] = [];
    let bytes = 0;
    let through = after;
    for (const [position, stored] of this.#database.records(after)) {
      const { revision } = position;
      const full = changes.length >= limit || bytes >= BYTES_PER_PAGE;
      if (full && revision !== through) return { changes, through, more: true };
      if (!stored) throw new StoreDamaged(`the change of revision ${revision} is damaged: its checksum does not match`);
      through = revision;
      bytes += stored.length;
      const record = decodeRecord(stored);
      if (record.key === ORIGIN_KEY) setOrigin(changes, revision, record.value);
      else changes.push(this.#change(revision, record));
    }
    return { changes, through: state.revision, more: false };
  }

  #change(revision: number, { key, value, link, created, time }: LogRecord): MutableChange {
    const before = created || !link ? undefined : this.#database.record(key, link);
    const replaced = before && valueIn(before);
    const previous = link && replaced ? { key, value: replaced, revision: link.revision } : undefined;
    return { key, revision, value, previous, origin: undefined, time };
  }

  #show(state: State): State {
    this.#shown = Math.max(this.#shown, state.revision);
    return state;
  }

  #check(revision: number, state: State): void {
    const oldest = Math.max(state.compacted, this.parts.historyFloor);
    if (revision > state.revision) throw new StoreAhead(state.revision);
    if (revision < oldest) throw new StoreCompacted(oldest);
  }

  #checkOpen(): void {
    if (this.#closing) throw new StoreUnavailable('the store is closed');
  }
}

/** Sets the origin of the newest changes, which are those of its revision. */
function setOrigin(changes: readonly MutableChange[], revision: number, stored: Buffer | null): void {
  const origin = stored ? decodeOrigin(stored)?.origin : undefined;
  for (let i = changes.length - 1; changes[i]?.revision === revision; i--) changes[i]!.origin = origin;
}

/** Returns the first key of a range, which must not be empty in LMDB. */
function startOf(prefix: string, after = ''): Buffer {
  const start = compareKeys(after, prefix) > 0 ? after : prefix;
  return start === '' ? Buffer.from([0]) : Buffer.from(start);
}
