import { setImmediate as turn } from 'node:timers/promises';
import type { Clock } from '../../../base/time/clock.ts';
import { checkWrites } from '../../keys.ts';
import { encodeOrigin, ORIGIN_KEY } from '../../origin-row.ts';
import {
  type Change,
  type Condition,
  type Origin,
  type Row,
  StoreAhead,
  StoreConflict,
  StoreDamaged,
  StoreFull,
  StoreUnavailable,
  type Write,
} from '../../store.ts';
import type { Database } from '../database.ts';
import {
  type Entry,
  encodeRecord,
  MAX_KEY_BYTES,
  MAX_WRITES,
  type Position,
  recordBytes,
  type State,
  valueIn,
} from '../layout.ts';
import { isFull } from './reserve.ts';
import { planTrim, type Trim } from './trim.ts';

export interface GroupCommitOptions {
  readonly database: Database;
  /** Reserves disk space before every flush. */
  readonly reserve: { take(pages: number): Promise<void> };
  readonly clock: Clock;
  readonly historyMilliseconds: number;
  readonly historyBytes: number;
  /** Called with changes that are on disk, before their commits resolve. */
  publish(changes: readonly Change[]): void;
}

/** The state of a key that the next commit is checked against: on disk, or about to be. */
interface KeyState {
  readonly entry: Entry | undefined;
  /** The row; undefined when the key does not exist, or was deleted. */
  readonly row: Row | undefined;
  /** The batch that writes the key; undefined when it is on disk. */
  readonly batch?: Batch;
}

interface PendingKey extends KeyState {
  readonly entry: Entry;
}

/** What a write is based on, and who asked for it. */
interface Cause {
  readonly known: KeyState;
  readonly origin: Origin | undefined;
  readonly time: number;
}

/** A change of another store. */
export type CopiedChange = Pick<Change, 'key' | 'value' | 'origin' | 'time'>;

interface NewRecord {
  readonly key: string;
  readonly value: Buffer | null;
  /** The newest entry of the key, which may be a deletion. */
  readonly before: Entry | undefined;
  /** True when the key exists. */
  readonly isKnown: boolean;
  readonly time: number;
}

/** A caller that waits for a flush. */
interface FlushWaiter {
  done(): void;
  failed(error: Error): void;
}

/** Commits that are written in one flush. */
class Batch {
  readonly records: { readonly position: Position; readonly bytes: Buffer }[] = [];
  /** The newest state of every key in the batch. */
  readonly keys = new Map<string, PendingKey>();
  readonly changes: Change[] = [];
  readonly waiting: FlushWaiter[] = [];
  /** The revision of a copied change, which another store had counted. */
  copied = 0;
  /** Time of the first change. */
  time: number | undefined;
  bytes = 0;
  /** Bytes that the changes add to history. */
  held = 0;

  /** Memory for the records until they are on disk. */
  readonly memory: Buffer;
  #used = 0;

  constructor(memory: Buffer) {
    this.memory = memory;
  }

  /** Allocates a record. */
  allocate(size: number): Buffer {
    if (this.#used + size > this.memory.length) return Buffer.allocUnsafeSlow(size);
    this.#used += size;
    return this.memory.subarray(this.#used - size, this.#used);
  }

  *entries(): Generator<readonly [string, Entry]> {
    for (const [key, { entry }] of this.keys) yield [key, entry];
  }
}

/** Size at which a batch accepts no more commits, so that a flush stays short. */
const MAX_BATCH_BYTES = 8 * 2 ** 20;

/** Placeholder for a damaged value, in the change that removes it. */
const UNKNOWN_VALUE = Buffer.alloc(0);

const NONE: readonly never[] = Object.freeze([]);

/** Memory for the records of a batch. It is reused, because new memory has to be mapped by the kernel first. */
const BATCH_MEMORY_BYTES = 256 * 1024;

/** Changes discarded with each flush: more than a flush adds, so that trimming catches up with writing. */
const TRIM_CHANGES_PER_WRITE = 4;
const MIN_TRIM_CHANGES = 64;
const COMPACT_CHANGES = 500;

/** Pages that LMDB may need for a write (besides those of the value), for a removal, and for every flush. */
const PAGES_PER_WRITE = 4;
const PAGES_PER_REMOVAL = 1;
const PAGES_PER_FLUSH = 64;
const PAGE_BYTES = 4096;

/**
 * Group commit: each commit is checked at once, against the state on disk and pending writes. Commits that arrive
 * during a flush share the next one.
 *
 * When a flush fails, pending commits were based on a state that will never exist; so they fail, too, and the next
 * commit is checked against the disk. Their revisions are not reused.
 */
export class GroupCommit {
  /** Batches waiting for the current flush, oldest first. */
  readonly #queue: Batch[] = [];
  #flushing: Batch | undefined;
  /** Memory of a finished batch, for reuse by the next one. */
  #spare: Buffer | undefined;
  #state: State;
  /** The newest assigned revision. */
  #assigned: number;
  /** The flush in progress. */
  #work: Promise<void> | undefined;
  /** Time of the oldest change in history; undefined when history is empty. Zero: not known yet. */
  #oldest: number | undefined = 0;
  /** The argument of the last compact(). */
  #compactTo = 0;
  #closed: StoreUnavailable | undefined;

  constructor(private readonly options: GroupCommitOptions) {
    this.#state = options.database.state();
    this.#assigned = this.#state.revision;
  }

  /** The newest published revision. */
  get revision(): number {
    return this.#state.revision;
  }

  commit(writes: readonly Write[], conditions: readonly Condition[] = [], origin?: Origin): Promise<number> {
    this.#checkOpen();
    checkWrites(writes, MAX_KEY_BYTES);
    if (writes.length > MAX_WRITES) throw new RangeError(`a commit has at most ${MAX_WRITES} writes`);
    const known = writes.map((write) => this.#known(write));
    for (const [i, { key, expect }] of writes.entries()) {
      const revision = known[i]?.row?.revision ?? 0;
      if (expect === undefined || expect === revision) continue;
      return rejected(new StoreConflict(key, revision), known[i]?.batch);
    }
    for (const { key, revision: wanted } of conditions) {
      const pending = this.#pending(key);
      const revision = pending ? (pending.row?.revision ?? 0) : this.#stored(key);
      if (revision !== wanted) return rejected(new StoreConflict(key, revision), pending?.batch);
    }
    const effective = writes.some(({ value }, i) => value !== null || known[i]?.row !== undefined);
    if (!effective && !this.#work) return Promise.resolve(this.#state.revision);
    const batch = this.#openBatch();
    if (effective) {
      this.#assigned++;
      const time = this.options.clock.now();
      for (const [i, write] of writes.entries()) this.#add(batch, write, { known: known[i] as KeyState, origin, time });
      if (origin) this.#addOrigin(batch, origin, time);
    }
    return this.#flushed(batch, this.#assigned);
  }

  /**
   * Writes what another store has changed under a revision, which is above all revisions here. Only for a copy that nobody else
   * writes to. Resolves when it is on disk.
   */
  append(revision: number, changes: readonly CopiedChange[]): Promise<number> {
    this.#checkOpen();
    checkWrites(changes, MAX_KEY_BYTES);
    const batch = this.#openBatch();
    const known = changes.map((change) => this.#known(change));
    this.#assigned = revision;
    const { origin, time = this.options.clock.now() } = changes[0] ?? {};
    for (const [i, change] of changes.entries())
      this.#add(batch, change, { known: known[i] as KeyState, origin, time });
    if (origin) this.#addOrigin(batch, origin, time);
    batch.copied = revision;
    return this.#flushed(batch, revision);
  }

  /**
   * Discards history up to a revision, one step with every flush. Readers may have seen a revision in the file before
   * its flush was reported as done, so that flush is awaited.
   */
  async compact(revision: number): Promise<void> {
    this.#checkOpen();
    if (revision > this.#state.revision) await this.#work;
    if (revision > this.#state.revision) throw new StoreAhead(this.#state.revision);
    this.#compactTo = Math.max(this.#compactTo, revision);
    while (this.#state.compacted < revision) await this.#flushed(this.#openBatch(), revision);
  }

  /** Accepts no more commits, and resolves when pending ones have ended. */
  async close(): Promise<void> {
    this.#closed ??= new StoreUnavailable('the store is closed');
    while (this.#work) await this.#work;
  }

  #checkOpen(): void {
    if (this.#closed) throw this.#closed;
  }

  #pending(key: string): PendingKey | undefined {
    for (let i = this.#queue.length - 1; i >= 0; i--) {
      const waiting = this.#queue[i]?.keys.get(key);
      if (waiting) return waiting;
    }
    return this.#flushing?.keys.get(key);
  }

  /** Returns the revision of a key on disk; 0 when it does not exist. */
  #stored(key: string): number {
    const entry = this.options.database.entry(key);
    return entry && !entry.deleted ? entry.revision : 0;
  }

  #known({ key, expect, replaces, evenIfDamaged }: Write): KeyState {
    const pending = this.#pending(key);
    if (pending) return pending;
    const entry = this.options.database.entry(key);
    if (!entry || entry.deleted) return { entry, row: undefined };
    const isKnown = replaces !== undefined && expect === entry.revision;
    const value = isKnown ? replaces : this.#valueOf(key, entry, evenIfDamaged);
    return { entry, row: { key, value, revision: entry.revision } };
  }

  #valueOf(key: string, entry: Entry, evenIfDamaged: boolean | undefined): Buffer {
    try {
      return valueIn(this.options.database.record(key, entry)) as Buffer;
    } catch (error) {
      if (!evenIfDamaged || !(error instanceof StoreDamaged)) throw error;
      return UNKNOWN_VALUE;
    }
  }

  #openBatch(): Batch {
    const last = this.#queue.at(-1);
    if (last && last.bytes < MAX_BATCH_BYTES) return last;
    const batch = new Batch(this.#spare ?? Buffer.allocUnsafeSlow(BATCH_MEMORY_BYTES));
    this.#spare = undefined;
    this.#queue.push(batch);
    return batch;
  }

  #add(batch: Batch, { key, value }: Write, { known: { entry: before, row: previous }, origin, time }: Cause): void {
    if (value === null && !previous) return;
    const entry = this.#record(batch, { key, value, before, isKnown: previous !== undefined, time });
    const { revision } = entry;
    batch.changes.push({ key, revision, value, previous, origin, time });
    batch.keys.set(key, { entry, row: value ? { key, value, revision } : undefined, batch });
  }

  /** Adds the row of the origin, which nobody reads by its key. */
  #addOrigin(batch: Batch, origin: Origin, time: number): void {
    const before = this.#pending(ORIGIN_KEY)?.entry ?? this.options.database.entry(ORIGIN_KEY);
    const value = encodeOrigin(origin, time);
    const isKnown = before !== undefined && !before.deleted;
    const entry = this.#record(batch, { key: ORIGIN_KEY, value, before, isKnown, time });
    batch.keys.set(ORIGIN_KEY, { entry, row: undefined, batch });
  }

  #record(batch: Batch, { key, value, before, isKnown, time }: NewRecord): Entry {
    const revision = this.#assigned;
    const last = batch.records.at(-1)?.position;
    const index = last?.revision === revision ? last.index + 1 : 0;
    const size = recordBytes(key, value);
    const held = (isKnown && before ? before.bytes : 0) + (value === null ? size : 0);
    const bytes = batch.allocate(size);
    encodeRecord({ key, value, time, link: before, created: !isKnown, frees: held }, bytes);
    // Written field by field: V8 takes many times as long to add fields to a spread object.
    const entry: Entry = { revision, index, deleted: value === null, bytes: size };
    batch.records.push({ position: entry, bytes });
    batch.time ??= time;
    batch.bytes += size;
    batch.held += held;
    return entry;
  }

  /** Resolves with the revision when the batch is on disk. */
  #flushed(batch: Batch, revision: number): Promise<number> {
    // The first commit waits for the end of the turn, so that others of the same turn share the flush.
    this.#work ??= turn().then(() => this.#next());
    return new Promise((resolve, reject) => {
      batch.waiting.push({ done: () => resolve(revision), failed: reject });
    });
  }

  #next(): Promise<void> | undefined {
    this.#flushing = this.#queue.shift();
    this.#work = this.#flushing && this.#flush(this.#flushing);
    return this.#work;
  }

  async #flush(batch: Batch): Promise<void> {
    try {
      await this.#write(batch);
    } catch (error) {
      this.#fail(batch, error);
      this.#next();
      return;
    }
    // The memory of a failed batch is not reused: LMDB might still read it.
    this.#spare = batch.memory;
    // Writes the next batch while this one is published.
    this.#next();
    this.options.publish(batch.changes);
    for (const { done } of batch.waiting) done();
  }

  async #write(batch: Batch): Promise<void> {
    const { database, reserve } = this.options;
    const { revision, compacted, historyBytes } = this.#state;
    const trim = this.#trim({ revision, compacted, historyBytes: historyBytes + batch.held }, batch);
    await reserve.take(pagesFor(batch, trim));
    const state = {
      revision: Math.max(batch.changes.at(-1)?.revision ?? revision, batch.copied),
      compacted: trim.compacted,
      historyBytes: trim.historyBytes,
    };
    const { removedRecords, removedEntries } = trim;
    await database.write({ removedRecords, removedEntries, records: batch.records, entries: batch.entries(), state });
    this.#state = state;
    this.#oldest = trim.oldest ?? batch.time;
  }

  #trim(state: State, batch: Batch): Trim {
    const { database, clock, historyMilliseconds, historyBytes } = this.options;
    const goal = { time: clock.now() - historyMilliseconds, bytes: historyBytes, revision: this.#compactTo };
    const compacting = this.#compactTo > state.compacted;
    const aged = this.#oldest !== undefined && this.#oldest <= goal.time;
    if (!compacting && !aged && state.historyBytes <= goal.bytes) {
      const { compacted, historyBytes: held } = state;
      return { removedRecords: NONE, removedEntries: NONE, compacted, historyBytes: held, oldest: this.#oldest };
    }
    const budget = compacting ? COMPACT_CHANGES : MIN_TRIM_CHANGES + TRIM_CHANGES_PER_WRITE * batch.changes.length;
    return planTrim(database, state, goal, budget);
  }

  /** Fails the batch and all later ones, which were based on it. */
  #fail(batch: Batch, cause: unknown): void {
    const error = storeError(cause);
    this.#checkUsable();
    const failed = [batch, ...this.#queue.splice(0)];
    for (const { waiting } of failed) for (const one of waiting) one.failed(error);
  }

  /** Throws when LMDB accepts no more transactions until the file is opened again, as after some failures. */
  #checkUsable(): void {
    try {
      this.options.database.probe();
    } catch (cause) {
      this.#closed = new StoreUnavailable('the store has failed and must be opened again', { cause });
    }
  }
}

/**
 * Reports a conflict with a pending write once that write is on disk. Otherwise the caller would read the old row and
 * conflict again, in a loop, until the flush has ended.
 */
function rejected(conflict: StoreConflict, batch: Batch | undefined): Promise<never> {
  return new Promise((_, reject) => {
    if (batch) batch.waiting.push({ done: () => reject(conflict), failed: reject });
    else reject(conflict);
  });
}

/** Estimates the pages for a flush, an upper bound in practice; beyond it, LMDB finds space by itself, or fails. */
function pagesFor(batch: Batch, trim: Trim): number {
  const writes = batch.records.length + batch.keys.size;
  const removals = trim.removedRecords.length + trim.removedEntries.length;
  const values = Math.ceil(batch.bytes / PAGE_BYTES);
  return values + writes * PAGES_PER_WRITE + removals * PAGES_PER_REMOVAL + PAGES_PER_FLUSH;
}

function storeError(cause: unknown): Error {
  if (cause instanceof StoreFull || cause instanceof StoreUnavailable) return cause;
  if (isFull(cause)) return new StoreFull('the disk is full', { cause });
  return new StoreUnavailable('the write failed', { cause });
}
