import type { Logger } from '../../base/log.ts';
import type { Clock } from '../../base/time/clock.ts';
import type { Reserve } from '../embedded/commit/reserve.ts';
import { type Row, type Rows, type Store, StoreUnavailable } from '../store.ts';
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
import type { ArchiveDatabase } from './database.ts';
import { purgeKeys, rangeOfKey, rangeOfPrefix } from './purge.ts';
import { ArchiveReader } from './reader.ts';
import { Recorder } from './recorder.ts';
import { Retention } from './retention.ts';
import { rewritePrefix } from './rewrite.ts';

export interface LmdbArchiveOptions {
  readonly store: Pick<Store, 'revision' | 'list' | 'watch'>;
  readonly database: ArchiveDatabase;
  readonly reserve: Reserve;
  readonly clock: Clock;
  readonly log: Logger;
  readonly milliseconds: number;
  readonly bytes: number;
  readonly begin?: Moment | undefined;
  covers(key: string): boolean;
  /** Called after everything was closed. */
  closed(): Promise<void>;
}

/** The archive in a directory. */
export class LmdbArchive implements RewritableArchive {
  readonly #options: LmdbArchiveOptions;
  readonly #recorder: Recorder;
  readonly #reader: ArchiveReader;
  readonly #retention: Retention;
  #closing: Promise<void> | undefined;

  constructor(options: LmdbArchiveOptions) {
    this.#options = options;
    this.#reader = new ArchiveReader(options.database);
    this.#retention = new Retention(options);
    this.#recorder = new Recorder({ ...options, retention: this.#retention });
  }

  /** Begins to record, and deletes what has expired in the meantime. */
  start(): void {
    this.#recorder.begin();
    this.#deleteExpired().catch((error: unknown) => {
      if (!this.#closing) this.#options.log.warn('expired history could not be deleted', { error });
    });
  }

  bounds(): { readonly oldest: Moment; readonly newest: Moment } {
    const { oldest, oldestTime } = this.#complete();
    return { oldest: { revision: oldest, time: oldestTime }, newest: this.#recorder.newest };
  }

  reached(revision: number): Promise<void> {
    return this.#recorder.reached(revision);
  }

  revisionAt(time: number): number {
    this.#complete();
    const { newest } = this.bounds();
    return time >= newest.time ? newest.revision : this.#reader.revisionAt(time);
  }

  async get(key: string, revision: number): Promise<Row | undefined> {
    this.#complete();
    return this.#reader.get(key, this.#readable(revision));
  }

  async list(prefix: string, options: StateOptions): Promise<Rows> {
    this.#complete();
    const rows = await this.#reader.list(prefix, { ...options, revision: this.#readable(options.revision) });
    return { ...rows, revision: options.revision };
  }

  async *changes(range: ChangeRange): AsyncIterable<ArchivedChange> {
    this.#complete();
    yield* this.#reader.changes(range);
  }

  async purge({ key, prefix, before }: PurgeRange): Promise<Purged> {
    const { database } = this.#options;
    this.#complete();
    await this.#level();
    return this.#recorder.exclusively(async () => {
      this.#recorder.forgetRecent();
      const until = Math.min(before ?? database.state.position, database.state.position);
      if (key !== undefined) return purgeKeys(database, rangeOfKey(key), until);
      if (prefix !== undefined && prefix !== '') return purgeKeys(database, rangeOfPrefix(prefix), until);
      return this.#deleteUntil(until);
    });
  }

  async rewrite(prefix: string, rewritten: Rewrite): Promise<number> {
    await this.#level();
    return rewritePrefix({ database: this.#options.database, recorder: this.#recorder }, prefix, rewritten);
  }

  sizes(): ArchiveSizes {
    return { bytes: this.#options.database.bytes, budget: this.#options.bytes };
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    const { database, reserve, closed } = this.#options;
    await this.#recorder.close();
    await this.#reader.close();
    await reserve.close();
    await database.close();
    await closed();
  }

  #complete() {
    const { state } = this.#options.database;
    if (this.#closing) throw new StoreUnavailable('the archive is closed');
    if (!state.isComplete) throw new StoreUnavailable('history is being set up: try again in a moment');
    return state;
  }

  /** Resolves when everything that was committed before the call is on disk. */
  async #level(): Promise<void> {
    await this.#recorder.reached(await this.#options.store.revision());
  }

  /** What has been recorded since the last write concerns no key of the archive. */
  #readable(revision: number): number {
    const { position } = this.#options.database.state;
    return revision > position && revision <= this.#recorder.newest.revision ? position : revision;
  }

  async #deleteExpired(): Promise<void> {
    const { database } = this.#options;
    for (let more = database.state.isComplete; more && !this.#closing; ) {
      more = await this.#recorder.exclusively(async () => (await this.#deleteStep(0)).more);
    }
  }

  async #deleteUntil(revision: number): Promise<Purged> {
    const purged = { changes: 0, bytes: 0 };
    for (let more = true; more; ) {
      const step = await this.#deleteStep(revision);
      purged.changes += step.changes;
      purged.bytes += step.bytes;
      more = step.more;
    }
    return purged;
  }

  async #deleteStep(until: number): Promise<Purged & { readonly more: boolean }> {
    const { database } = this.#options;
    const { removed, oldest, oldestTime, originsBefore, more } = this.#retention.plan(STEP_CHANGES, until);
    const isNothing = removed.length === 0 && oldest === database.state.oldest;
    const sizes = removed.map(({ key, ...place }) => database.version(key, place).value?.length ?? 0);
    if (!isNothing) {
      await database.write({ removed, originsBefore, state: { ...database.state, oldest, oldestTime } });
    }
    return { changes: removed.length, bytes: sizes.reduce((sum, size) => sum + size, 0), more: more && !isNothing };
  }
}

/** Changes deleted in one step while nothing else is written. */
const STEP_CHANGES = 250;
