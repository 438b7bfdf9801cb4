import { open } from 'lmdb';
import type { Origin } from '../store.ts';
import { StoreDamaged } from '../store.ts';
import {
  type ArchiveState,
  decodeEntry,
  decodePlace,
  decodeState,
  decodeVersion,
  EMPTY_ARCHIVE,
  encodeEntry,
  encodePlace,
  encodeState,
  encodeVersion,
  type IndexEntry,
  indexEnd,
  indexKey,
  type Place,
  revisionOfIndex,
  type VersionRecord,
  versionBytes,
} from './layout.ts';

type Environment = ReturnType<typeof open<Buffer, Buffer>>;
type Table = ReturnType<typeof openTable>;

/** A view of the database at one moment. Must be released with done(). */
export type Snapshot = ReturnType<Environment['useReadTransaction']>;

interface PageCounts {
  readonly treeBranchPageCount: number;
  readonly treeLeafPageCount: number;
  readonly overflowPages: number;
}

/** A version and its place. */
export interface PlacedVersion extends Place {
  readonly version: VersionRecord;
}

/** A version to remove, by its place and its key. */
export interface RemovedVersion extends Place {
  readonly key: string;
}

export interface NewOrigin {
  readonly place: Place;
  readonly origin: Origin;
}

/** What one transaction changes. */
export interface ArchiveWrite {
  readonly versions?: readonly PlacedVersion[];
  readonly origins?: readonly NewOrigin[];
  readonly removed?: readonly RemovedVersion[];
  /** Origins before this revision are removed. */
  readonly originsBefore?: number;
  readonly state: ArchiveState;
}

const MAP_BYTES = 64 * 2 ** 30;
const PAGE_BYTES = 4096;

/** Smaller values are not compressed. */
const MIN_COMPRESSED_BYTES = 1_000;

/** lmdb's default, of English words, takes more time than the compression itself. Missing in its types. */
const NO_DICTIONARY = { dictionary: undefined };

const binary = { keyEncoding: 'binary', encoding: 'binary' } as const;

/** Wraps LMDB in the terms of the archive. Reads are synchronous, because they access mapped memory. */
export class ArchiveDatabase {
  readonly #environment: Environment;
  readonly #log: Table;
  readonly #index: Table;
  readonly #origins: Table;
  readonly #meta: Table;
  /** The version of the state row. */
  #generation: number;
  #state: ArchiveState;
  /** The last place of the log. */
  #last: Place = { revision: 0, index: 0 };

  constructor(path: string, { readOnly = false } = {}) {
    this.#environment = open<Buffer, Buffer>({
      path,
      readOnly,
      mapSize: MAP_BYTES,
      maxDbs: 4,
      // A write resolves after the flush, and nothing is visible before it is on disk.
      overlappingSync: false,
      eventTurnBatching: false,
      ...binary,
      // Missing in lmdb's types. A transaction begins with its second write.
      ...{ permissionsMode: 0o600, txnStartThreshold: 1 },
    });
    this.#log = openTable(this.#environment, 'log', {
      compression: { threshold: MIN_COMPRESSED_BYTES, ...NO_DICTIONARY },
    });
    this.#index = openTable(this.#environment, 'index');
    this.#origins = openTable(this.#environment, 'origins');
    this.#meta = openTable(this.#environment, 'meta', { useVersions: true });
    const { value, version = 0 } = this.#meta.getEntry(STATE) ?? {};
    const state = value ? decodeState(value) : EMPTY_ARCHIVE;
    if (!state) throw new StoreDamaged('the state of the archive is damaged: its checksum does not match');
    this.#state = state;
    this.#generation = version;
    for (const key of this.#log.getKeys({ reverse: true, limit: 1 })) this.#last = decodePlace(key);
    if (version === 0 && !readOnly) {
      this.#meta.putSync(STATE, encodeState(EMPTY_ARCHIVE), 1);
      this.#generation = 1;
    }
  }

  /** The state as of the last write of this process. */
  get state(): ArchiveState {
    return this.#state;
  }

  /** Size of what is stored, without free pages. */
  get bytes(): number {
    const tables = [this.#log, this.#index, this.#origins, this.#meta].map((table) => table.getStats() as PageCounts);
    const pages = tables.map((each) => each.treeBranchPageCount + each.treeLeafPageCount + each.overflowPages);
    return pages.reduce((sum, count) => sum + count, 0) * PAGE_BYTES;
  }

  /** Writes a transaction. Resolves when it is on disk. Rejects with LMDB's reason when nothing was written. */
  async write({ versions = [], origins = [], removed = [], originsBefore, state }: ArchiveWrite): Promise<void> {
    const next = this.#generation + 1;
    // Encodes before writing, because lmdb would commit the writes that a callback made before it threw.
    const records = encodeAll(versions);
    const written = versions.map((each, i) => ({
      isLast: this.#isLast(each),
      place: encodePlace(each),
      record: records[i]!,
      key: indexKey(each.version.key, each.revision),
      entry: encodeEntry({ index: each.index, isDeletion: each.version.value === null }),
    }));
    const dropped = removed.map((each) => ({ place: encodePlace(each), key: indexKey(each.key, each.revision) }));
    const from = origins.map(({ place, origin }) => ({ place: encodePlace(place), bytes: encodeOriginRow(origin) }));
    const old = originsBefore === undefined ? [] : this.#originsBefore(originsBefore);
    const text = encodeState(state);
    const write = () => {
      for (const { place, key } of dropped) {
        this.#log.remove(place);
        this.#index.remove(key);
      }
      for (const place of old) this.#origins.remove(place);
      for (const { place, bytes } of from) this.#origins.put(place, bytes);
      for (const { isLast, place, record, key, entry } of written) {
        append(this.#log, { isLast, place, record });
        this.#index.put(key, entry);
      }
      this.#meta.put(STATE, text, next);
    };
    const done = this.#meta.ifVersion(STATE, this.#generation, write);
    // Removes a missing key to start the transaction, which lmdb begins at the next operation.
    const nudged = this.#meta.remove(NUDGE);
    const [isWritten] = await Promise.all([done, nudged]).catch(async (error: unknown) => {
      const { commitError } = error as { commitError?: Promise<never> };
      throw commitError ? await commitError.catch((reason: unknown) => reason) : error;
    });
    if (!isWritten) throw new StoreDamaged('another process has written to the archive');
    this.#generation = next;
    this.#state = state;
  }

  snapshot(): Snapshot {
    return this.#environment.useReadTransaction();
  }

  /** Returns the version at a place. Throws StoreDamaged when it is not intact. */
  version(key: string, place: Place, snapshot?: Snapshot): VersionRecord {
    const bytes = this.#log.get(encodePlace(place), options(snapshot));
    const version = bytes && decodeVersion(bytes);
    if (version?.key === key) return version;
    const reason = bytes ? 'damaged: its checksum does not match' : 'missing';
    throw new StoreDamaged(`the archived version of ${key} at revision ${place.revision} is ${reason}`, { key });
  }

  /** Yields the index from `start` (inclusive) to `end` (exclusive): keys, and per key the newest version first. */
  *entries(
    { start, end, reverse = false }: { readonly start: Buffer; readonly end?: Buffer; readonly reverse?: boolean },
    snapshot?: Snapshot,
  ): Generator<{ readonly key: Buffer; readonly entry: IndexEntry }> {
    const range = this.#index.getRange({ start, ...(end && { end }), reverse, ...options(snapshot) });
    for (const { key, value } of range) yield { key: key, entry: decodeEntry(value) };
  }

  /** Returns the place of the version of a key that has this revision. */
  place(key: string, revision: number): Place | undefined {
    const bytes = this.#index.get(indexKey(key, revision));
    return bytes && { revision, index: decodeEntry(bytes).index };
  }

  /** Returns the newest version of a key up to a revision; undefined when there is none. */
  newest(key: string, revision: number, snapshot?: Snapshot): (Place & IndexEntry) | undefined {
    const range = { start: indexKey(key, revision), end: indexEnd(key), limit: 1, ...options(snapshot) };
    for (const { key: found, value } of this.#index.getRange(range)) {
      return { revision: revisionOfIndex(found), ...decodeEntry(value) };
    }
    return undefined;
  }

  /** Yields versions by place, from `start` (inclusive). Those that are damaged are undefined. */
  *log(
    { start, end, reverse = false }: { readonly start: Place; readonly end?: Place; readonly reverse?: boolean },
    snapshot?: Snapshot,
  ): Generator<Place & { readonly version: VersionRecord | undefined }> {
    const range = { start: encodePlace(start), ...(end && { end: encodePlace(end) }), reverse, ...options(snapshot) };
    for (const { key, value } of this.#log.getRange(range)) {
      const { revision, index } = decodePlace(key);
      yield { revision, index, version: decodeVersion(value) };
    }
  }

  origin(place: Place, snapshot?: Snapshot): Origin | undefined {
    const bytes = this.#origins.get(encodePlace(place), options(snapshot));
    return bytes && decodeOriginRow(bytes);
  }

  async close(): Promise<void> {
    await this.#environment.close();
  }

  /** Reports whether a place is after all others, and remembers it. */
  #isLast({ revision, index }: Place): boolean {
    const last = this.#last;
    const isLast = revision > last.revision || (revision === last.revision && index > last.index);
    if (isLast) this.#last = { revision, index };
    return isLast;
  }

  #originsBefore(revision: number): Buffer[] {
    const keys = this.#origins.getKeys({ end: encodePlace({ revision, index: 0 }), limit: MAX_REMOVED_ORIGINS });
    return Array.from(keys as Iterable<Buffer>);
  }
}

/** Encodes versions into one piece of memory: each piece of its own would cost the garbage collector more than the copy. */
function encodeAll(versions: readonly PlacedVersion[]): Buffer[] {
  const sizes = versions.map(({ version }) => versionBytes(version));
  const memory = Buffer.allocUnsafeSlow(sizes.reduce((sum, size) => sum + size, 0));
  let start = 0;
  return versions.map(({ version }, i) => {
    const bytes = memory.subarray(start, start + sizes[i]!);
    start += bytes.length;
    encodeVersion(version, bytes);
    return bytes;
  });
}

/** Pages that are only appended to are full. Elsewhere LMDB splits them in halves. */
function append(
  log: Table,
  { isLast, place, record }: { readonly isLast: boolean; readonly place: Buffer; readonly record: Buffer },
): void {
  const put = log.put as (key: Buffer, value: Buffer, options?: { readonly append: true }) => Promise<boolean>;
  put.call(log, place, record, isLast ? { append: true } : undefined);
}

const STATE = Buffer.from('state');
const NUDGE = Buffer.from('none');
const MAX_REMOVED_ORIGINS = 1_000;

function openTable(
  environment: Environment,
  name: string,
  settings: { readonly compression?: { readonly threshold: number }; readonly useVersions?: boolean } = {},
) {
  return environment.openDB<Buffer, Buffer>({ name, keyEncoding: 'binary', encoding: 'binary', ...settings });
}

function options(snapshot: Snapshot | undefined) {
  return snapshot ? { transaction: snapshot } : undefined;
}

/** The parts of an origin that changes share. The request is in the record of each change. */
function encodeOriginRow({ user, client, manager, isStatus }: Origin): Buffer {
  return Buffer.from(JSON.stringify([user, client, manager, isStatus ? 1 : 0]));
}

function decodeOriginRow(bytes: Buffer): Origin {
  const [user, client, manager, isStatus] = JSON.parse(bytes.toString()) as [
    string,
    string | null,
    string | null,
    number,
  ];
  return { user, client: client ?? undefined, manager: manager ?? undefined, isStatus: isStatus === 1 };
}
