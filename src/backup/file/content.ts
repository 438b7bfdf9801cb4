/** The content of a backup. */

/** A moment of a cluster: a revision, and when it was the newest. */
export interface SavedMoment {
  readonly revision: number;
  /** Milliseconds since the epoch. */
  readonly time: number;
}

/** The first block: what the file is. */
export interface BackupAbout extends SavedMoment {
  /** Name of the cluster. */
  readonly cluster: string;
  /** The release that has taken it: version and level. */
  readonly release: { readonly version: string; readonly level: number };
  /** Name of the store that the objects were in. */
  readonly store: string;
  /** Every moment since can be restored from the file; undefined: only the one at which it was taken. */
  readonly oldest?: SavedMoment | undefined;
}

/** Text files of the data directory, by their role: see `saved-files.ts`. */
export type SavedFiles = Readonly<Record<string, string>>;

/** A row as it is at rest: what the store encrypts is encrypted. */
export interface SavedRow {
  readonly key: string;
  readonly revision: number;
  readonly value: Buffer;
}

/** A change of history. */
interface SavedChange {
  readonly key: string;
  readonly revision: number;
  /** Milliseconds since the epoch. */
  readonly time: number;
  /** The user, client and request that asked for it, as JSON allows. */
  readonly origin: object | undefined;
  /** Null for a deletion. */
  readonly value: Buffer | null;
  /** Revision of the row that it replaced; 0: there was none. */
  readonly replaced: number;
}

/** A record of history: a change or, before the first change of a key, the row that the change replaced. */
export type HistoryRecord =
  | { readonly type: 'change'; readonly change: SavedChange }
  | { readonly type: 'earlier'; readonly row: SavedRow };

/** The last block. */
export interface BackupEnd {
  readonly rows: number;
  readonly changes: number;
  /** Rows that could not be read when the backup was taken. */
  readonly damaged: readonly { readonly key: string; readonly revision: number }[];
}

/** A part of a backup, as it is read: `about`, `files`, any number of `changes`, any number of `rows`, `end`. */
export type BackupPart =
  | { readonly kind: 'about'; readonly about: BackupAbout }
  | { readonly kind: 'files'; readonly files: SavedFiles }
  | { readonly kind: 'changes'; readonly records: readonly HistoryRecord[] }
  | { readonly kind: 'rows'; readonly rows: readonly SavedRow[] }
  | { readonly kind: 'end'; readonly end: BackupEnd };
