/**
 * The archive on disk, or the changes in memory while those reach further back: the archive of a new cluster begins some
 * moments after its first changes, and one that is not open yet has none.
 */
import type {
  Archive,
  ArchivedChange,
  ArchiveSizes,
  ChangeRange,
  Moment,
  Purged,
  PurgeRange,
  StateOptions,
} from '../../../../store/archive/archive.ts';
import { type Row, type Rows, StoreUnavailable } from '../../../../store/store.ts';

export class JoinedArchive implements Archive {
  readonly #disk: Archive;
  readonly #memory: Archive;
  /** True once history was deleted, which the memory still has. */
  #isPurged = false;

  constructor(disk: Archive, memory: Archive) {
    this.#disk = disk;
    this.#memory = memory;
  }

  bounds(): { readonly oldest: Moment; readonly newest: Moment } {
    return this.#furthest().bounds();
  }

  /** Waits until the archive is open, too: until then, nobody knows which of both reaches further back. */
  async reached(revision: number): Promise<void> {
    await this.#disk.reached(revision);
    await this.#memory.reached(revision);
  }

  revisionAt(time: number): number {
    return this.#furthest().revisionAt(time);
  }

  get(key: string, revision: number): Promise<Row | undefined> {
    return this.#furthest().get(key, revision);
  }

  list(prefix: string, options: StateOptions): Promise<Rows> {
    return this.#furthest().list(prefix, options);
  }

  changes(range: ChangeRange): AsyncIterable<ArchivedChange> {
    return this.#furthest().changes(range);
  }

  purge(range: PurgeRange): Promise<Purged> {
    this.#isPurged = true;
    return this.#disk.purge(range);
  }

  sizes(): ArchiveSizes {
    return this.#disk.sizes();
  }

  close(): Promise<void> {
    return this.#disk.close();
  }

  #furthest(): Archive {
    if (this.#isPurged) return this.#disk;
    const oldest = this.#oldestOnDisk();
    return oldest === undefined || this.#memory.bounds().oldest.revision < oldest ? this.#memory : this.#disk;
  }

  /** Returns the oldest revision on disk; undefined while nothing can be read. */
  #oldestOnDisk(): number | undefined {
    try {
      return this.#disk.bounds().oldest.revision;
    } catch (error) {
      if (error instanceof StoreUnavailable) return undefined;
      throw error;
    }
  }
}
