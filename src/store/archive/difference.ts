import { setImmediate as turn } from 'node:timers/promises';
import type { Clock } from '../../base/time/clock.ts';
import type { Reserve } from '../embedded/commit/reserve.ts';
import { compareKeys } from '../keys.ts';
import { type Row, type Store, StoreCompacted } from '../store.ts';
import type { Moment } from './archive.ts';
import type { ArchiveDatabase, PlacedVersion, RemovedVersion } from './database.ts';
import { MAX_INDEX } from './layout.ts';
import { ArchiveReader } from './reader.ts';

export interface DifferenceOptions {
  readonly store: Pick<Store, 'revision' | 'list'>;
  readonly database: ArchiveDatabase;
  readonly reserve: Reserve;
  readonly clock: Clock;
  /** What an empty archive begins with, while the store still has it; undefined: the newest revision. */
  readonly begin?: Moment | undefined;
  covers(key: string): boolean;
}

const PAGE_ROWS = 500;
const MAX_BATCH_VERSIONS = 500;
const MAX_ATTEMPTS = 5;
const PAGES_PER_VERSION = 8;
const PAGE_BYTES = 4096;

/**
 * Records how the present state of the store differs from the last one that was recorded, and moves the position there. In an empty
 * archive, that is the whole state, and the archive begins with it: these versions have no known change. Otherwise they are changes that nobody is
 * known to have asked for, at the time when they were noticed.
 *
 * The position moves with the last write, so that a crash before it repeats this.
 */
export async function recordPresent(options: DifferenceOptions, signal: AbortSignal): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      await record(options, await startOf(options, attempt), signal);
      return;
    } catch (error) {
      // The store has discarded the state while it was read.
      if (!(error instanceof StoreCompacted) || attempt >= MAX_ATTEMPTS) throw error;
    }
  }
}

async function startOf({ store, database, begin, clock }: DifferenceOptions, attempt: number): Promise<Moment> {
  const isBeginning = !database.state.isComplete && attempt === 1;
  return (isBeginning && begin) || { revision: await store.revision(), time: clock.now() };
}

async function record(options: DifferenceOptions, { revision, time }: Moment, signal: AbortSignal): Promise<void> {
  const { store, database } = options;
  const { state } = database;
  const writer = new Writer(options, {
    revision,
    isBase: !state.isComplete,
    time: Math.max(time, state.positionTime),
  });
  await removeUnfinished(options);
  const known = new ArchiveReader(database);
  const before = recordedRows(known, state.isComplete ? state.position : undefined);
  let old = await before.next();
  for await (const row of presentRows(store, revision)) {
    signal.throwIfAborted();
    if (!options.covers(row.key)) continue;
    for (; !old.done && compareKeys(old.value.key, row.key) < 0; old = await before.next()) {
      await writer.add({ key: old.value.key, value: null }, old.value.revision);
    }
    const isKnown = !old.done && old.value.key === row.key;
    if (!isKnown) await writer.add(row, 0);
    else if (!isSame(row, old.value!)) await writer.add(row, old.value!.revision);
    if (isKnown) old = await before.next();
  }
  for (; !old.done; old = await before.next())
    await writer.add({ key: old.value.key, value: null }, old.value.revision);
  await writer.finish();
}

/** A store that was restored may have a version again that was replaced. */
const isSame = (row: Row, old: Row) => row.revision === old.revision || row.value.equals(old.value);

/** Removes what an interrupted attempt has written. */
async function removeUnfinished({ database }: DifferenceOptions): Promise<void> {
  const { state } = database;
  const start = { revision: state.isComplete ? state.position + 1 : 0, index: 0 };
  for (;;) {
    const removed: RemovedVersion[] = [];
    for (const { version, ...place } of database.log({ start })) {
      if (version) removed.push({ key: version.key, ...place });
      if (removed.length >= MAX_BATCH_VERSIONS) break;
    }
    if (removed.length === 0) return;
    await database.write({ removed, state });
  }
}

async function* presentRows(store: Pick<Store, 'list'>, revision: number): AsyncGenerator<Row> {
  let after: string | undefined;
  for (let more = true; more; ) {
    // Damaged rows are left out: the archive may still have what they were.
    const page = await store.list('', { revision, limit: PAGE_ROWS, after, damaged: () => undefined });
    yield* page.rows;
    more = page.more;
    after = page.rows.at(-1)?.key;
    await turn();
  }
}

async function* recordedRows(reader: ArchiveReader, revision: number | undefined): AsyncGenerator<Row, undefined> {
  if (revision === undefined) return undefined;
  let after: string | undefined;
  for (let more = true; more; ) {
    const page = await reader.list('', { revision, limit: PAGE_ROWS, after });
    yield* page.rows;
    more = page.more;
    after = page.rows.at(-1)?.key;
  }
  return undefined;
}

interface Present {
  readonly revision: number;
  readonly time: number;
  readonly isBase: boolean;
}

/** A row of the store, or a key without one. */
interface PresentRow {
  readonly key: string;
  readonly value: Buffer | null;
  readonly revision?: number;
}

/** Writes versions in steps. */
class Writer {
  readonly #options: DifferenceOptions;
  readonly #present: Present;
  /** Records of each revision: several rows may have the same. */
  readonly #counts = new Map<number, number>();
  #versions: PlacedVersion[] = [];
  #bytes = 0;

  constructor(options: DifferenceOptions, present: Present) {
    this.#options = options;
    this.#present = present;
  }

  async add({ key, value, revision }: PresentRow, replaced: number): Promise<void> {
    // When it was deleted, or restored, is not known.
    const isNew = revision !== undefined && (this.#present.isBase || revision > this.#options.database.state.position);
    const at = isNew ? revision : this.#present.revision;
    const index = this.#counts.get(at) ?? 0;
    if (index > MAX_INDEX) return;
    this.#counts.set(at, index + 1);
    const { time, isBase } = this.#present;
    this.#versions.push({
      revision: at,
      index,
      version: { key, value, time, replaced, origin: undefined, request: undefined, isBase },
    });
    this.#bytes += value?.length ?? 0;
    if (this.#versions.length >= MAX_BATCH_VERSIONS) await this.#flush();
  }

  async finish(): Promise<void> {
    const { state } = this.#options.database;
    const { revision, time } = this.#present;
    await this.#flush({
      position: revision,
      positionTime: time,
      oldest: state.isComplete ? state.oldest : revision,
      oldestTime: state.isComplete ? state.oldestTime : time,
      isComplete: true,
    });
  }

  async #flush(state = this.#options.database.state): Promise<void> {
    const { database, reserve } = this.#options;
    const versions = this.#versions;
    await reserve.take(Math.ceil(this.#bytes / PAGE_BYTES) + versions.length * PAGES_PER_VERSION + PAGES_PER_VERSION);
    this.#versions = [];
    this.#bytes = 0;
    await database.write({ versions, state });
    await turn();
  }
}
