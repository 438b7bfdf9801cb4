import { open } from 'lmdb';
import { StoreDamaged, StoreUnavailable } from '../store.ts';
import {
  decodeEntry,
  decodeState,
  EMPTY,
  type Entry,
  encodeEntry,
  encodePosition,
  encodeState,
  isIntact,
  keyIn,
  type Position,
  readPosition,
  type State,
} from './layout.ts';

type Environment = ReturnType<typeof open<Buffer, Buffer>>;
type Table<K extends string | Buffer> = ReturnType<typeof openTable<K>>;

/** A view of the database at one moment. Must be released with done(). */
export type Snapshot = ReturnType<Environment['useReadTransaction']>;

/** The changes that one flush writes to disk in one transaction. */
export interface Transaction {
  readonly removedRecords: readonly Position[];
  readonly removedEntries: readonly string[];
  readonly records: readonly { readonly position: Position; readonly bytes: Buffer }[];
  readonly entries: Iterable<readonly [string, Entry]>;
  readonly state: State;
}

/** Wraps LMDB in the terms of this store. Reads are synchronous, because they access mapped memory. */
export class Database {
  readonly #environment: Environment;
  readonly #index: Table<string | Buffer>;
  readonly #log: Table<Buffer>;
  readonly #meta: Table<Buffer>;
  /** A copy of the index in memory, because every commit reads it. */
  readonly #known = new Map<string, Entry>();
  /** The version of the state row as this process wrote it. A write of another process changes it. */
  #generation: number;
  #lost = false;

  constructor(file: string, mapSize: number) {
    this.#environment = open<Buffer, Buffer>({
      path: file,
      mapSize,
      maxDbs: 3,
      // A write resolves after the flush, and nothing is visible before it is on disk.
      overlappingSync: false,
      // group-commit.ts decides the boundaries of transactions instead of turns of the event loop.
      eventTurnBatching: false,
      keyEncoding: 'binary',
      encoding: 'binary',
      // Missing in lmdb's types. A transaction begins with its second write: see write().
      ...{ permissionsMode: 0o600, txnStartThreshold: 1 },
    });
    this.#index = openTable<string | Buffer>(this.#environment, 'index', { keyEncoder: keyBytes });
    this.#log = openTable(this.#environment, 'log', { keyEncoding: 'binary' });
    this.#meta = openTable(this.#environment, 'meta', { keyEncoding: 'binary', useVersions: true });
    this.#generation = this.#claim();
    for (const [key, entry] of this.entries(Buffer.alloc(0), undefined)) this.#known.set(key, entry);
  }

  /** Writes a transaction. Resolves when it is on disk. Rejects with LMDB's reason when nothing was written. */
  async write(transaction: Transaction): Promise<void> {
    const next = this.#generation + 1;
    // Encodes before writing, because lmdb would commit the writes that a callback made before it threw.
    const removed = transaction.removedRecords.map(encodePosition);
    const records = transaction.records.map(({ position, bytes }) => ({ key: encodePosition(position), bytes }));
    const entries = Array.from(transaction.entries, ([key, entry]) => ({ key, entry, bytes: encodeEntry(entry) }));
    const state = encodeState(transaction.state);
    const outcomes: Promise<boolean>[] = [];
    const write = () => {
      for (const key of removed) this.#log.remove(key);
      for (const key of transaction.removedEntries) this.#index.remove(key);
      for (const { key, bytes } of records) outcomes.push(append(this.#log, key, bytes));
      for (const { key, bytes } of entries) this.#index.put(key, bytes);
      this.#meta.put(STATE, state, next);
    };
    outcomes.push(this.#meta.ifVersion(STATE, this.#generation, write));
    // Removes a missing key to start the transaction, which lmdb begins at the next turn of the event loop, or at the
    // next operation.
    const nudged = this.#meta.remove(NUDGE);
    // When the transaction fails, each result is rejected.
    const [results] = await Promise.all([Promise.all(outcomes), nudged]).catch(async (error) => {
      throw await reasonOf(error);
    });
    if (results.includes(false)) this.#lost = true;
    this.#checkExclusive();
    this.#generation = next;
    for (const key of transaction.removedEntries) this.#known.delete(key);
    for (const { key, entry } of entries) this.#known.set(key, entry);
  }

  /** After a failed write, throws when all further writes would fail as well. */
  probe(): void {
    this.#checkExclusive();
    this.#environment.transactionSync(() => {});
  }

  #checkExclusive(): void {
    if (this.#lost) throw new StoreUnavailable('another process has written to this store');
  }

  /** Makes this process the only writer: from now on, writes of other processes fail. */
  #claim(): number {
    return this.#environment.transactionSync(() => {
      const { value = encodeState(EMPTY), version = 0 } = this.#meta.getEntry(STATE) ?? {};
      this.#meta.putSync(STATE, value, version + 1);
      return version + 1;
    });
  }

  snapshot(): Snapshot {
    return this.#environment.useReadTransaction();
  }

  state(snapshot?: Snapshot): State {
    const state = decodeState(this.#meta.get(STATE, options(snapshot)) as Buffer);
    if (!state) throw new StoreDamaged('the state of the store is damaged: its checksum does not match');
    return state;
  }

  /** Returns the index row of a key, from the current state or a snapshot. */
  entry(key: string, snapshot?: Snapshot): Entry | undefined {
    if (!snapshot) return this.#known.get(key);
    const bytes = this.#index.get(key, options(snapshot));
    return bytes && decodeEntry(bytes);
  }

  /** Returns the record of a key at a position where one must exist. Throws StoreDamaged when it is not intact. */
  record(key: string, position: Position, snapshot?: Snapshot): Buffer {
    const bytes = this.#log.get(encodePosition(position), options(snapshot));
    if (bytes && isIntact(bytes) && keyIn(bytes) === key) return bytes;
    const reason = bytes ? 'damaged: its checksum does not match' : 'missing';
    throw new StoreDamaged(`the value of ${key} at revision ${position.revision} is ${reason}`, { key });
  }

  /** Yields the keys from `start` (inclusive) to `end` (exclusive), which are bytes. */
  *entries(start: Buffer, end: Buffer | undefined, snapshot?: Snapshot): Generator<[string, Entry]> {
    for (const { key, value } of this.#index.getRange({ start, ...(end && { end }), ...options(snapshot) })) {
      yield [key as string, decodeEntry(value)];
    }
  }

  /** Yields the log after a revision. A damaged record is undefined. */
  *records(after: number, snapshot?: Snapshot): Generator<[Position, Buffer | undefined]> {
    const start = encodePosition({ revision: after + 1, index: 0 });
    for (const { key, value } of this.#log.getRange({ start, ...options(snapshot) }))
      yield [readPosition(key, 0), isIntact(value) ? value : undefined];
  }

  /** Writes a consistent copy while the database is in use. */
  copyTo(file: string): Promise<void> {
    return this.#environment.backup(file, true);
  }

  async close(): Promise<void> {
    await this.#environment.close();
  }
}

const STATE = Buffer.from('state');
const NUDGE = Buffer.from('none');

function options(snapshot: Snapshot | undefined) {
  return snapshot ? { transaction: snapshot } : undefined;
}

function openTable<K extends string | Buffer>(
  environment: Environment,
  name: string,
  settings: { keyEncoding?: 'binary'; keyEncoder?: typeof keyBytes; useVersions?: boolean },
) {
  return environment.openDB<Buffer, K>(name, { encoding: 'binary', ...settings });
}

/** Appends after the last key, which keeps pages full: LMDB would otherwise split them in halves. */
function append(table: Table<Buffer>, key: Buffer, bytes: Buffer): Promise<boolean> {
  const put = table.put as (key: Buffer, value: Buffer, options: { append: true }) => Promise<boolean>;
  return put.call(table, key, bytes, { append: true });
}

/** Encodes keys as UTF-8. Bounds of ranges are bytes already. */
const keyBytes = {
  writeKey(key: string | Buffer, target: Buffer, start: number): number {
    if (typeof key !== 'string') {
      target.set(key, start);
      return start + key.length;
    }
    const length = Buffer.byteLength(key);
    // lmdb enlarges the target and retries after this error; Buffer.write() would silently truncate the key.
    if (start + length > target.byteLength) throw new RangeError('no room for the key');
    target.write(key, start);
    return start + length;
  },
  readKey: (source: Buffer, start: number, end: number): string => source.toString('utf8', start, end),
};

/** Extracts the cause: lmdb rejects with a general message, and a promise in it has the error with its `code`. */
async function reasonOf(error: unknown): Promise<unknown> {
  const { commitError } = error as { commitError?: Promise<never> };
  if (!commitError) return error;
  return commitError.catch((reason) => reason);
}
