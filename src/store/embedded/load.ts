/** Fills a directory with what another store can read. */
import type { Clock } from '../../base/time/clock.ts';
import type { StoreHistory } from '../driver.ts';
import { checkWrites } from '../keys.ts';
import type { Change } from '../store.ts';
import { Reserve } from './commit/reserve.ts';
import { Database, type Transaction } from './database.ts';
import { type Entry, encodeRecord, MAX_KEY_BYTES, recordBytes, type State } from './layout.ts';
import { MAP_BYTES } from './open.ts';
import { newStore } from './snapshot.ts';

/** Creates the directory, which must not exist. It is a store once this has resolved. */
export async function loadStore(directory: string, { oldest, rows, steps }: StoreHistory, clock: Clock): Promise<void> {
  const file = await newStore(directory);
  const reserve = await Reserve.open(file, clock);
  let database: Database | undefined;
  try {
    await reserve.take(PAGES_TO_OPEN);
    database = new Database(file, MAP_BYTES);
    const loader = new Loader(database, reserve, { clock, oldest });
    for (const { key, value, revision } of rows) {
      await loader.add(revision, { key, value });
    }
    for await (const { revision, changes } of steps) {
      checkWrites(changes, MAX_KEY_BYTES);
      for (const change of changes) await loader.add(revision, change);
      loader.reach(revision);
    }
    await loader.flush();
  } finally {
    await database?.close();
    await reserve.close();
  }
}

const PAGES_TO_OPEN = 32;
const MAX_BATCH_BYTES = 2 * 2 ** 20;
const MAX_BATCH_RECORDS = 1_000;
/** Pages that a record may need besides those of its value. */
const PAGES_PER_RECORD = 8;
const PAGE_BYTES = 4096;

interface LoaderOptions {
  readonly clock: Clock;
  readonly oldest: number;
}

/** Writes records with given revisions, in their order, many in one transaction. */
class Loader {
  /** The newest record of each key. */
  readonly #entries = new Map<string, Entry>();
  #state: State;
  #records: Transaction['records'][number][] = [];
  #changed = new Map<string, Entry>();
  #bytes = 0;
  #last = { revision: 0, index: 0 };

  constructor(
    private readonly database: Database,
    private readonly reserve: Reserve,
    private readonly options: LoaderOptions,
  ) {
    this.#state = { revision: options.oldest, compacted: options.oldest, historyBytes: 0 };
  }

  /** All changes up to this revision have been added. */
  reach(revision: number): void {
    this.#state = { ...this.#state, revision: Math.max(this.#state.revision, revision) };
  }

  async add(revision: number, { key, value }: Pick<Change, 'key' | 'value'>): Promise<void> {
    const before = this.#entries.get(key);
    const replaced = before && !before.deleted ? before : undefined;
    if (value === null && !replaced) return;
    // Transactions end between revisions.
    if (revision !== this.#last.revision && this.#isFull()) await this.flush();
    const position = { revision, index: revision === this.#last.revision ? this.#last.index + 1 : 0 };
    this.#last = position;
    const size = recordBytes(key, value);
    const frees = (replaced?.bytes ?? 0) + (value === null ? size : 0);
    const bytes = Buffer.allocUnsafe(size);
    const time = this.options.clock.now();
    encodeRecord({ key, value, time, link: before, created: replaced === undefined, frees }, bytes);
    const entry: Entry = { ...position, deleted: value === null, bytes: size };
    this.#records.push({ position, bytes });
    this.#entries.set(key, entry);
    this.#changed.set(key, entry);
    this.#bytes += size;
    this.#state = { ...this.#state, historyBytes: this.#state.historyBytes + frees };
    this.reach(revision);
  }

  #isFull(): boolean {
    return this.#bytes >= MAX_BATCH_BYTES || this.#records.length >= MAX_BATCH_RECORDS;
  }

  async flush(): Promise<void> {
    await this.reserve.take(Math.ceil(this.#bytes / PAGE_BYTES) + this.#records.length * PAGES_PER_RECORD);
    await this.database.write({
      removedRecords: [],
      removedEntries: [],
      records: this.#records,
      entries: this.#changed,
      state: this.#state,
    });
    this.#records = [];
    this.#changed = new Map();
    this.#bytes = 0;
  }
}
