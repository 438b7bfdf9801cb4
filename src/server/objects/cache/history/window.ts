/**
 * The changes in memory as an archive, for servers whose store has none on disk: it reaches back as far as watches do. What is
 * older than this process is not in it.
 */
import { ApiError } from '../../../../api/errors.ts';
import type { Clock } from '../../../../base/time/clock.ts';
import {
  type Archive,
  ArchiveBegins,
  type ArchivedChange,
  type ArchiveSizes,
  type ChangeRange,
  type Moment,
  type Purged,
  type StateOptions,
} from '../../../../store/archive/archive.ts';
import type { Row, Rows } from '../../../../store/store.ts';
import type { RevisionTimes } from '../../revision-times.ts';
import type { Cache } from '../cache.ts';
import type { Entry } from '../entry/entry.ts';
import { parseKey } from '../keys.ts';
import type { KeptChange } from './change-history.ts';

interface WindowOptions {
  readonly cache: Cache;
  readonly times: RevisionTimes;
  readonly clock: Clock;
}

const rowOf = ({ at, revision, stored }: Entry): Row => ({ key: at.key, revision, value: stored });

export class Window implements Archive {
  readonly #cache: Cache;
  readonly #times: RevisionTimes;
  readonly #clock: Clock;

  constructor({ cache, times, clock }: WindowOptions) {
    this.#cache = cache;
    this.#times = times;
    this.#clock = clock;
  }

  bounds(): { readonly oldest: Moment; readonly newest: Moment } {
    const { revision, floor } = this.#cache;
    const newest = { revision, time: this.#clock.now() };
    return { oldest: this.#times.moments.find((each) => each.revision >= floor) ?? newest, newest };
  }

  async reached(revision: number): Promise<void> {
    await this.#cache.reached(revision);
  }

  revisionAt(time: number): number {
    const { oldest } = this.bounds();
    if (time < oldest.time) throw new ArchiveBegins(oldest);
    return this.#times.moments.findLast((each) => each.time <= time)?.revision ?? oldest.revision;
  }

  async get(key: string, revision: number): Promise<Row | undefined> {
    this.#check(revision);
    const next = this.#changes({ key, after: revision })[0];
    const entry = next ? next.record.previous : this.#cache.entry(key);
    return entry && rowOf(entry);
  }

  async list(prefix: string, { revision, after = '', limit = Number.POSITIVE_INFINITY }: StateOptions): Promise<Rows> {
    this.#check(revision);
    const parts = parseKey(prefix);
    if (!parts) throw new Error(`${prefix} is not the prefix of a kind`);
    const entries = this.#cache.tableNamed(parts.table).entriesAt(revision, parts.namespace);
    const rest = entries.filter(({ at: { key } }) => key > after).map(rowOf);
    return { rows: rest.slice(0, limit), revision, more: rest.length > limit };
  }

  async *changes(range: ChangeRange): AsyncGenerator<ArchivedChange> {
    this.#check(range.after ?? this.#cache.floor);
    const found = this.#changes(range);
    for (const { record, time, origin } of range.newestFirst ? found.toReversed() : found) {
      const { at, revision, entry, previous } = record;
      const value = entry?.stored ?? null;
      yield { key: at.key, revision, time, origin, value, replaced: previous?.revision ?? 0 };
    }
  }

  async purge(): Promise<Purged> {
    throw new ApiError(
      'BadRequest',
      'this server keeps history in memory alone, for as long as watches need it: there is none to delete',
    );
  }

  sizes(): ArchiveSizes {
    return { bytes: 0, budget: 0 };
  }

  async close(): Promise<void> {}

  #changes({ key, prefix = '', after = 0, until = Number.POSITIVE_INFINITY }: ChangeRange): readonly KeptChange[] {
    return this.#cache.changes.filter(({ record: { at, revision } }) => {
      if (revision <= after || revision > until) return false;
      return key === undefined ? at.key.startsWith(prefix) : at.key === key;
    });
  }

  #check(revision: number): void {
    if (revision < this.#cache.floor) throw new ArchiveBegins(this.bounds().oldest);
  }
}
