import { setImmediate as turn } from 'node:timers/promises';
import { compareKeys, prefixEnd } from '../keys.ts';
import { type Origin, type Row, type Rows, StoreAhead } from '../store.ts';
import { ArchiveBegins, type ArchivedChange, type ChangeRange, type StateOptions } from './archive.ts';
import type { ArchiveDatabase, PlacedVersion, Snapshot } from './database.ts';
import { type IndexEntry, indexEnd, indexKey, keyOfIndex, MAX_INDEX, type Place, revisionOfIndex } from './layout.ts';

/** Limit for the rows or changes read in one turn of the event loop. */
const ROWS_PER_TURN = 1_000;
const CHANGES_PER_PAGE = 500;

/** Versions that are stepped over one by one; beyond, finding the next one from the root of the tree is faster. */
const MAX_STEPS = 8;

/** Reads past states and changes from the database, each from one snapshot of it. */
export class ArchiveReader {
  readonly #database: ArchiveDatabase;
  /** Reads that span turns of the event loop. */
  readonly #reads = new Set<Promise<unknown>>();

  constructor(database: ArchiveDatabase) {
    this.#database = database;
  }

  revisionAt(time: number): number {
    const { position, positionTime, oldest, oldestTime } = this.#database.state;
    if (time < oldestTime) throw new ArchiveBegins({ revision: oldest, time: oldestTime });
    if (time >= positionTime) return position;
    let [found, end] = [oldest, position];
    while (found < end) {
      const middle = Math.ceil((found + end) / 2);
      const next = this.#firstFrom(middle, end);
      if (next && next.version.time <= time) found = next.revision;
      else end = middle - 1;
    }
    return found;
  }

  async get(key: string, revision: number): Promise<Row | undefined> {
    this.#check(revision);
    return this.#rowAt(key, this.#database.newest(key, revision), undefined);
  }

  list(prefix: string, options: StateOptions): Promise<Rows> {
    const snapshot = this.#database.snapshot();
    return this.#track(this.#list(prefix, options, snapshot).finally(() => snapshot.done()));
  }

  async *changes(range: ChangeRange): AsyncIterable<ArchivedChange> {
    const { oldest, position } = this.#database.state;
    let after = Math.max(range.after ?? 0, oldest);
    let until = Math.min(range.until ?? position, position);
    for (;;) {
      const page = this.#page({ ...range, after, until });
      yield* page.changes;
      if (!page.more) return;
      if (range.newestFirst) until = page.through - 1;
      else after = page.through;
      await turn();
    }
  }

  /** Resolves when no read needs the database any more. */
  async close(): Promise<void> {
    await Promise.allSettled(this.#reads);
  }

  #track<T>(read: Promise<T>): Promise<T> {
    const tracked = read.finally(() => this.#reads.delete(tracked));
    this.#reads.add(tracked);
    return tracked;
  }

  #check(revision: number): void {
    const { oldest, oldestTime, position } = this.#database.state;
    if (revision > position) throw new StoreAhead(position);
    if (revision < oldest) throw new ArchiveBegins({ revision: oldest, time: oldestTime });
  }

  async #list(prefix: string, { revision, after, limit }: StateOptions, snapshot: Snapshot): Promise<Rows> {
    this.#check(revision);
    const rows: Row[] = [];
    let left = ROWS_PER_TURN;
    for (const { key, place } of this.#placesAt(revision, rangeOf(prefix, after), snapshot)) {
      const row = this.#rowAt(key, place, snapshot);
      if (row && rows.length === limit) return { rows, revision, more: true };
      if (row) rows.push(row);
      if (--left > 0) continue;
      left = ROWS_PER_TURN;
      await turn();
    }
    return { rows, revision, more: false };
  }

  #rowAt(key: string, place: (Place & IndexEntry) | undefined, snapshot: Snapshot | undefined): Row | undefined {
    if (!place || place.isDeletion) return undefined;
    const { value } = this.#database.version(key, place, snapshot);
    return value ? { key, value, revision: place.revision } : undefined;
  }

  /** Yields the newest place up to a revision of each key that has one. */
  *#placesAt(
    revision: number,
    { start, end }: KeyRange,
    snapshot: Snapshot,
  ): Generator<{ readonly key: string; readonly place: Place & IndexEntry }> {
    const walk = new KeyWalk(revision);
    let from: Buffer | undefined = start;
    while (from) {
      const range: KeyRange = { start: from, end };
      from = undefined;
      for (const { key: bytes, entry } of this.#database.entries(range, snapshot)) {
        const step = walk.step(bytes);
        if (step === 'found') {
          yield { key: walk.key, place: { ...entry, revision: revisionOfIndex(bytes) } };
        } else if (step === 'far') {
          from = walk.next();
          break;
        }
      }
    }
  }

  /** The first version whose change is known, from a revision on. */
  #firstFrom(revision: number, until: number): PlacedVersion | undefined {
    const range = { start: { revision, index: 0 }, end: { revision: until + 1, index: 0 } };
    for (const { version, ...place } of this.#database.log(range)) if (version) return { ...place, version };
    return undefined;
  }

  #page(range: ChangeRange & Required<Pick<ChangeRange, 'after' | 'until'>>): Page {
    if (range.after >= range.until) return { changes: [], through: range.until, more: false };
    const snapshot = this.#database.snapshot();
    try {
      const changes: ArchivedChange[] = [];
      const origins = new Origins(this.#database, snapshot);
      let through = 0;
      let count = 0;
      for (const placed of this.#versions(range, snapshot)) {
        // All changes of a revision are in one page.
        if (count >= CHANGES_PER_PAGE && placed.revision !== through) return { changes, through, more: true };
        count++;
        through = placed.revision;
        const { version } = placed;
        if (version && !version.isBase && version.key.startsWith(range.prefix ?? '')) {
          changes.push(changeOf(placed as PlacedVersion, origins));
        }
      }
      return { changes, through, more: false };
    } finally {
      snapshot.done();
    }
  }

  *#versions(
    { key, after, until, newestFirst = false }: ChangeRange & { readonly after: number; readonly until: number },
    snapshot: Snapshot,
  ): Generator<Omit<PlacedVersion, 'version'> & Partial<PlacedVersion>> {
    if (key === undefined) {
      const first = { revision: after + 1, index: 0 };
      // A range includes its start and excludes its end, also in reverse.
      const range = newestFirst
        ? { start: { revision: until, index: MAX_INDEX }, end: { revision: after, index: MAX_INDEX }, reverse: true }
        : { start: first, end: { revision: until + 1, index: 0 } };
      yield* this.#database.log(range, snapshot);
      return;
    }
    const [newest, oldest] = [indexKey(key, until), indexKey(key, after)];
    // The index has the newest first.
    const range = newestFirst
      ? { start: newest, end: oldest }
      : { start: indexKey(key, after + 1), end: beforeKey(newest), reverse: true };
    for (const { key: bytes, entry } of this.#database.entries(range, snapshot)) {
      const place = { revision: revisionOfIndex(bytes), index: entry.index };
      yield { ...place, version: this.#database.version(key, place, snapshot) };
    }
  }
}

function changeOf({ revision, version }: PlacedVersion, origins: Origins): ArchivedChange {
  const { key, value, time, replaced, origin: place, request } = version;
  const origin = place && origins.at(place);
  return { key, revision, time, origin: origin && { ...origin, request }, value, replaced };
}

/** Origins of one page of changes: most have the same. */
class Origins {
  readonly #known = new Map<string, Origin | undefined>();

  constructor(
    private readonly database: ArchiveDatabase,
    private readonly snapshot: Snapshot,
  ) {}

  at(place: Place): Origin | undefined {
    const id = `${place.revision}.${place.index}`;
    if (!this.#known.has(id)) this.#known.set(id, this.database.origin(place, this.snapshot));
    return this.#known.get(id);
  }
}

interface Page {
  readonly changes: readonly ArchivedChange[];
  /** The revision of the last version that was read. */
  readonly through: number;
  readonly more: boolean;
}

interface KeyRange {
  readonly start: Buffer;
  readonly end?: Buffer;
}

const NOTHING = Buffer.alloc(0);

/** Walks over index keys, and looks for the newest version of each key up to a revision. */
class KeyWalk {
  #current: Buffer = NOTHING;
  #isFound = false;
  #steps = 0;

  constructor(private readonly revision: number) {}

  /** The key of the last step. */
  get key(): string {
    return this.#current.toString();
  }

  /** Takes the next index key. `far`: the walk should go on at `next()`. */
  step(bytes: Buffer): 'found' | 'skip' | 'far' {
    const name = keyOfIndex(bytes);
    if (!name.equals(this.#current)) {
      this.#current = name;
      this.#isFound = false;
      this.#steps = 0;
    }
    if (!this.#isFound && revisionOfIndex(bytes) <= this.revision) {
      this.#isFound = true;
      this.#steps = 0;
      return 'found';
    }
    return ++this.#steps > MAX_STEPS ? 'far' : 'skip';
  }

  next(): Buffer {
    this.#steps = 0;
    return this.#isFound ? indexEnd(this.key) : indexKey(this.key, this.revision);
  }
}

function rangeOf(prefix: string, after = ''): KeyRange {
  const start = compareKeys(after, prefix) >= 0 ? indexEnd(after) : Buffer.from(prefix);
  const end = prefixEnd(prefix);
  const first = start.length > 0 ? start : Buffer.from([0]);
  return end ? { start: first, end } : { start: first };
}

/** Returns bytes right before an index key. */
function beforeKey(key: Buffer): Buffer {
  const bytes = Buffer.from(key);
  const at = bytes.length - 6;
  bytes.writeUIntBE(bytes.readUIntBE(at, 6) - 1, at, 6);
  return bytes;
}
