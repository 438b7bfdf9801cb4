/**
 * The contract of the archive: past states of a store and who changed them, on disk, for days. It is separate from what a store itself
 * keeps for its watches. Values are those that the store had; keys of some prefixes are left out (heartbeats, events).
 */
import type { Origin, Row, Rows } from '../store.ts';

/** A revision, and the time at which it became the newest: milliseconds since the epoch. */
export interface Moment {
  readonly revision: number;
  readonly time: number;
}

export interface ArchivedChange {
  readonly key: string;
  readonly revision: number;
  /** Milliseconds since the epoch. */
  readonly time: number;
  /** Who asked for it; undefined when nobody said so, or when the change was noticed after the fact. */
  readonly origin: Origin | undefined;
  /** The value that was written; null for a deletion. */
  readonly value: Buffer | null;
  /** Revision of the version that it replaced; 0 when it created the key. */
  readonly replaced: number;
}

export interface StateOptions {
  readonly revision: number;
  /** Starts after this key. */
  readonly after?: string;
  readonly limit?: number;
}

/** A range of changes: those of one key, or of all keys with a prefix; default: all. */
export interface ChangeRange {
  readonly key?: string;
  readonly prefix?: string;
  /** Only changes after this revision. */
  readonly after?: number;
  /** Only changes up to and including this revision. */
  readonly until?: number;
  readonly newestFirst?: boolean;
}

/** The changes to delete: those of one key, or of all keys with a prefix, those before a revision, or those that are both. */
export interface PurgeRange {
  readonly key?: string;
  readonly prefix?: string;
  readonly before?: number;
}

export interface Purged {
  readonly changes: number;
  readonly bytes: number;
}

export interface ArchiveSizes {
  readonly bytes: number;
  /** Size at which the oldest changes are deleted. */
  readonly budget: number;
}

export interface Archive {
  /** The oldest and the newest state that can be read, and with them every state between. */
  bounds(): { readonly oldest: Moment; readonly newest: Moment };

  /** Resolves when everything up to the revision is recorded. */
  reached(revision: number): Promise<void>;

  /** Returns the newest revision at a time. Throws ArchiveBegins when the archive begins later. */
  revisionAt(time: number): number;

  /** Resolves with the row of a key as of a revision. Rejects with ArchiveBegins. */
  get(key: string, revision: number): Promise<Row | undefined>;

  /** Resolves with the rows of a prefix as of a revision, in key order. Rejects with ArchiveBegins. */
  list(prefix: string, options: StateOptions): Promise<Rows>;

  /** Yields changes in order of revision, the oldest first. Those of one key are found without reading others. */
  changes(range: ChangeRange): AsyncIterable<ArchivedChange>;

  /** Deletes history. The present state stays, and with it the newest version of each key that exists. */
  purge(range: PurgeRange): Promise<Purged>;

  sizes(): ArchiveSizes;

  close(): Promise<void>;
}

/** Returns the new value of a row; undefined: it stays as it is. */
export type Rewrite = (row: Row) => Buffer | undefined;

/** An archive whose values can be replaced by others that mean the same. */
export interface RewritableArchive extends Archive {
  /** Replaces values under a prefix, and resolves with their number. */
  rewrite(prefix: string, rewritten: Rewrite): Promise<number>;
}

/** A request for a state that is older than the archive. */
export class ArchiveBegins extends Error {
  override readonly name = 'ArchiveBegins';
  constructor(readonly oldest: Moment) {
    super(`history begins at ${new Date(oldest.time).toISOString()}, with revision ${oldest.revision}`);
  }
}
