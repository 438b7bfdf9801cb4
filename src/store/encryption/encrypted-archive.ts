import type {
  Archive,
  ArchivedChange,
  ArchiveSizes,
  ChangeRange,
  Moment,
  Purged,
  PurgeRange,
  RewritableArchive,
  StateOptions,
} from '../archive/archive.ts';
import type { Row, Rows } from '../store.ts';
import type { EncryptedStore } from './encrypted-store.ts';
import { StoreSealed } from './envelope.ts';

/** Decrypts what leaves an archive, with the keys of the store that it follows. */
export class EncryptedArchive implements Archive {
  readonly #inner: RewritableArchive;
  readonly #store: EncryptedStore;

  constructor(inner: RewritableArchive, store: EncryptedStore) {
    this.#inner = inner;
    this.#store = store;
  }

  bounds(): { readonly oldest: Moment; readonly newest: Moment } {
    return this.#inner.bounds();
  }

  reached(revision: number): Promise<void> {
    return this.#inner.reached(revision);
  }

  revisionAt(time: number): number {
    return this.#inner.revisionAt(time);
  }

  async get(key: string, revision: number): Promise<Row | undefined> {
    const row = await this.#inner.get(key, revision);
    return row && this.#store.opened(row);
  }

  async list(prefix: string, options: StateOptions): Promise<Rows> {
    const found = await this.#inner.list(prefix, options);
    return { ...found, rows: found.rows.map((row) => this.#store.opened(row)) };
  }

  async *changes(range: ChangeRange): AsyncIterable<ArchivedChange> {
    for await (const change of this.#inner.changes(range)) {
      const { key, revision, value } = change;
      yield value ? { ...change, value: this.#store.opened({ key, revision, value }).value } : change;
    }
  }

  purge(range: PurgeRange): Promise<Purged> {
    return this.#inner.purge(range);
  }

  sizes(): ArchiveSizes {
    return this.#inner.sizes();
  }

  close(): Promise<void> {
    return this.#inner.close();
  }

  /** Re-encrypts every value that is not encrypted with the newest key, and returns their number. */
  async reencrypt(): Promise<number> {
    let written = 0;
    for (const prefix of this.#store.prefixes)
      written += await this.#inner.rewrite(prefix, (row) => this.#resealed(row));
    return written;
  }

  /** A value that no known key can decrypt stays as it is. */
  #resealed(row: Row): Buffer | undefined {
    try {
      return this.#store.resealed(row);
    } catch (error) {
      if (error instanceof StoreSealed) return undefined;
      throw error;
    }
  }
}
