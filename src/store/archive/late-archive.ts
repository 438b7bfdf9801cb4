import { type Row, type Rows, StoreUnavailable } from '../store.ts';
import type {
  ArchivedChange,
  ArchiveSizes,
  ChangeRange,
  Moment,
  Purged,
  PurgeRange,
  RewritableArchive,
  Rewrite,
  StateOptions,
} from './archive.ts';

/** An archive that is opened while callers have it already. They wait for it, or are told that it is not open yet. */
export class LateArchive implements RewritableArchive {
  readonly #open: () => Promise<RewritableArchive>;
  readonly #opened: Promise<RewritableArchive>;
  #settle!: { resolve(archive: RewritableArchive): void; reject(error: unknown): void };
  #archive: RewritableArchive | undefined;
  #problem: Error = new StoreUnavailable('history is not open yet: try again in a moment');
  #isStarted = false;
  #isClosed = false;

  constructor(open: () => Promise<RewritableArchive>) {
    this.#open = open;
    this.#opened = new Promise((resolve, reject) => {
      this.#settle = { resolve, reject };
    });
    this.#opened.catch(() => undefined); // Rejects whoever waits for it.
  }

  /** Resolves when the archive is open. Rejects with the reason why it is not. */
  async start(): Promise<void> {
    if (this.#isStarted) return;
    this.#isStarted = true;
    try {
      if (this.#isClosed) throw closed();
      this.#archive = await this.#open();
      this.#settle.resolve(this.#archive);
    } catch (cause) {
      this.#problem = new StoreUnavailable(`history cannot be opened: ${(cause as Error).message}`, { cause });
      this.#settle.reject(this.#problem);
      throw cause;
    }
  }

  bounds(): { readonly oldest: Moment; readonly newest: Moment } {
    return this.#present().bounds();
  }

  async reached(revision: number): Promise<void> {
    return (await this.#opened).reached(revision);
  }

  revisionAt(time: number): number {
    return this.#present().revisionAt(time);
  }

  async get(key: string, revision: number): Promise<Row | undefined> {
    return (await this.#opened).get(key, revision);
  }

  async list(prefix: string, options: StateOptions): Promise<Rows> {
    return (await this.#opened).list(prefix, options);
  }

  async *changes(range: ChangeRange): AsyncIterable<ArchivedChange> {
    yield* (await this.#opened).changes(range);
  }

  async purge(range: PurgeRange): Promise<Purged> {
    return (await this.#opened).purge(range);
  }

  async rewrite(prefix: string, rewritten: Rewrite): Promise<number> {
    if (!this.#isStarted) throw this.#problem;
    return (await this.#opened).rewrite(prefix, rewritten);
  }

  sizes(): ArchiveSizes {
    return this.#present().sizes();
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    if (!this.#isStarted) return this.#settle.reject(closed());
    const archive = await this.#opened.catch(() => undefined);
    await archive?.close();
  }

  #present(): RewritableArchive {
    if (!this.#archive) throw this.#problem;
    return this.#archive;
  }
}

const closed = () => new StoreUnavailable('the archive is closed');
