/** Writes the oldest state of another store into a new data file, with the revisions that it has there. */
import { join } from 'node:path';
import type { Clock } from '../../../base/time/clock.ts';
import type { CopyBase } from '../../driver.ts';
import { checkWrites } from '../../keys.ts';
import type { Row } from '../../store.ts';
import { Reserve } from '../commit/reserve.ts';
import { Database, type Transaction } from '../database.ts';
import { type Entry, encodeRecord, MAX_KEY_BYTES, recordBytes, type State } from '../layout.ts';
import { MAP_BYTES } from '../open.ts';
import { DATA_FILE } from '../read-only.ts';

/** The directory exists, and has no data file. */
export async function loadBase(directory: string, { oldest, rows }: CopyBase, clock: Clock): Promise<void> {
  const file = join(directory, DATA_FILE);
  const reserve = await Reserve.open(file, clock);
  let database: Database | undefined;
  try {
    await reserve.take(PAGES_TO_OPEN);
    database = new Database(file, MAP_BYTES);
    const loader = new Loader(database, reserve, { clock, oldest });
    for (const row of rows) await loader.add(row);
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

/** Writes rows in order of revision, many in one transaction. */
class Loader {
  readonly #database: Database;
  readonly #reserve: Reserve;
  readonly #clock: Clock;
  readonly #state: State;
  #records: Transaction['records'][number][] = [];
  #entries = new Map<string, Entry>();
  #bytes = 0;
  #last = { revision: 0, index: 0 };

  constructor(database: Database, reserve: Reserve, { clock, oldest }: LoaderOptions) {
    this.#database = database;
    this.#reserve = reserve;
    this.#clock = clock;
    this.#state = { revision: oldest, compacted: oldest, historyBytes: 0 };
  }

  async add({ key, value, revision }: Row): Promise<void> {
    checkWrites([{ key, value }], MAX_KEY_BYTES);
    if (this.#bytes >= MAX_BATCH_BYTES || this.#records.length >= MAX_BATCH_RECORDS) await this.flush();
    const position = { revision, index: revision === this.#last.revision ? this.#last.index + 1 : 0 };
    this.#last = position;
    const size = recordBytes(key, value);
    const bytes = Buffer.allocUnsafe(size);
    encodeRecord({ key, value, time: this.#clock.now(), link: undefined, created: true, frees: 0 }, bytes);
    this.#records.push({ position, bytes });
    this.#entries.set(key, { ...position, deleted: false, bytes: size });
    this.#bytes += size;
  }

  async flush(): Promise<void> {
    await this.#reserve.take(Math.ceil(this.#bytes / PAGE_BYTES) + this.#records.length * PAGES_PER_RECORD);
    await this.#database.write({
      removedRecords: [],
      removedEntries: [],
      records: this.#records,
      entries: this.#entries,
      state: this.#state,
    });
    this.#records = [];
    this.#entries = new Map();
    this.#bytes = 0;
  }
}
