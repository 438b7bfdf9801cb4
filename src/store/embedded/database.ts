import { open } from 'lmdb';
import { StoreUnavailable } from '../store.ts';
import {
  decodeEntry,
  decodeState,
  EMPTY,
  type Entry,
  encodeEntry,
  encodePosition,
  encodeState,
  type Position,
  readPosition,
  type State,
} from './layout.ts';

type Environment = ReturnType<typeof open<Buffer, Buffer>>;
type Table<K extends string | Buffer> = ReturnType<typeof openTable<K>>;

/** A view of the database at one moment. It must be given back with done(). */
export type Snapshot = ReturnType<Environment['useReadTransaction']>;

/** Everything that one flush puts on disk, as one transaction. */
export interface Transaction {
  readonly removedRecords: readonly Position[];
  readonly removedEntries: readonly string[];
  readonly records: readonly { readonly position: Position; readonly bytes: Buffer }[];
  readonly entries: Iterable<readonly [string, Entry]>;
  readonly state: State;
}

/** LMDB behind the words of this store. Reads are synchronous: they touch memory that the kernel maps. */
export class Database {
  readonly #environment: Environment;
  readonly #index: Table<string | Buffer>;
  readonly #log: Table<Buffer>;
  readonly #meta: Table<Buffer>;
  /** The index once more, in memory: every commit asks it, and must not wait for a look into the file. */
  readonly #known = new Map<string, Entry>();
  /** The version of the state row as this program wrote it last. Another program's write breaks the chain. */
  #generation: number;
  #lost = false;

  constructor(file: string, mapSize: number) {
    this.#environment = open<Buffer, Buffer>({
      path: file,
      mapSize,
      maxDbs: 3,
      // A write then resolves after the flush, and nothing is ever visible that is not on disk.
      overlappingSync: false,
      // Transactions begin and end where group-commit.ts says, not with turns of the loop.
      eventTurnBatching: false,
      keyEncoding: 'binary',
      encoding: 'binary',
      // Known to lmdb, not to its types. A transaction begins with its second write: see write().
      ...{ permissionsMode: 0o600, txnStartThreshold: 1 },
    });
    this.#index = openTable<string | Buffer>(this.#environment, 'index', { keyEncoder: keyBytes });
    this.#log = openTable(this.#environment, 'log', { keyEncoding: 'binary' });
    this.#meta = openTable(this.#environment, 'meta', { keyEncoding: 'binary', useVersions: true });
    this.#generation = this.#claim();
    for (const [key, entry] of this.entries(Buffer.alloc(0), undefined)) this.#known.set(key, entry);
  }

  /** Resolves when all of it is on disk. Rejects with the reason of LMDB when nothing is. */
  async write(transaction: Transaction): Promise<void> {
    const next = this.#generation + 1;
    // Encoded first: lmdb would commit the first half of a callback that throws.
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
    // lmdb begins with the next turn of the loop, or when something more is to be done: a removal of what is not there.
    const nudged = this.#meta.remove(NUDGE);
    // All of them: when the disk refuses the transaction, each is rejected.
    const [results] = await Promise.all([Promise.all(outcomes), nudged]).catch(async (error) => {
      throw await reasonOf(error);
    });
    if (results.includes(false)) this.#lost = true;
    this.#checkMine();
    this.#generation = next;
    for (const key of transaction.removedEntries) this.#known.delete(key);
    for (const { key, entry } of entries) this.#known.set(key, entry);
  }

  /** Throws when no further write can succeed after one has failed. */
  probe(): void {
    this.#checkMine();
    this.#environment.transactionSync(() => {});
  }

  #checkMine(): void {
    if (this.#lost) throw new StoreUnavailable('another program has written to this store');
  }

  /** Makes this program the one that writes: from here on, a write of any other fails. */
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
    const bytes = this.#meta.get(STATE, options(snapshot));
    return decodeState(bytes as Buffer);
  }

  /** What is on disk of a key; with a snapshot, what was. */
  entry(key: string, snapshot?: Snapshot): Entry | undefined {
    if (!snapshot) return this.#known.get(key);
    const bytes = this.#index.get(key, options(snapshot));
    return bytes && decodeEntry(bytes);
  }

  record(position: Position, snapshot?: Snapshot): Buffer | undefined {
    return this.#log.get(encodePosition(position), options(snapshot));
  }

  /** Keys from `start` on, before `end`, as bytes. */
  *entries(start: Buffer, end: Buffer | undefined, snapshot?: Snapshot): Generator<[string, Entry]> {
    for (const { key, value } of this.#index.getRange({ start, ...(end && { end }), ...options(snapshot) })) {
      yield [key as string, decodeEntry(value)];
    }
  }

  /** The log after a revision. */
  *records(after: number, snapshot?: Snapshot): Generator<[Position, Buffer]> {
    const start = encodePosition({ revision: after + 1, index: 0 });
    for (const { key, value } of this.#log.getRange({ start, ...options(snapshot) }))
      yield [readPosition(key, 0), value];
  }

  /** Writes a consistent copy while work goes on. */
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

/** A put behind the last key. Pages are left full then, where LMDB would split them in halves. */
function append(table: Table<Buffer>, key: Buffer, bytes: Buffer): Promise<boolean> {
  const put = table.put as (key: Buffer, value: Buffer, options: { append: true }) => Promise<boolean>;
  return put.call(table, key, bytes, { append: true });
}

/** Keys go to LMDB as their UTF-8 bytes, and come back as strings. Bounds of ranges are given as bytes. */
const keyBytes = {
  writeKey(key: string | Buffer, target: Buffer, start: number): number {
    if (typeof key !== 'string') {
      target.set(key, start);
      return start + key.length;
    }
    const length = Buffer.byteLength(key);
    // lmdb makes room and calls again when it sees this error. Buffer.write() would cut the key in silence.
    if (start + length > target.byteLength) throw new RangeError('no room for the key');
    target.write(key, start);
    return start + length;
  },
  readKey: (source: Buffer, start: number, end: number): string => source.toString('utf8', start, end),
};

/** lmdb rejects with a general sentence; the reason, with its `code`, hides behind a promise. */
async function reasonOf(error: unknown): Promise<unknown> {
  const { commitError } = error as { commitError?: Promise<never> };
  if (!commitError) return error;
  return commitError.catch((reason) => reason);
}
