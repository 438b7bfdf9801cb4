import type { Change, Origin } from '../store.ts';
import type { NewOrigin, PlacedVersion, RemovedVersion } from './database.ts';
import type { Place } from './layout.ts';

/** Of the status changes of a key within this time, only the last is kept. */
export const THINNED_MS = 60_000;

/** Origins are shared by the changes of one such block of revisions, so that those of old blocks can be removed. */
const ORIGIN_BLOCK = 65_536;

/** Distinct origins of a block that are remembered: clients choose their names. */
const MAX_ORIGINS = 1_000;

/** What is written next. */
export interface Batch {
  readonly versions: readonly PlacedVersion[];
  readonly removed: readonly RemovedVersion[];
  readonly origins: readonly NewOrigin[];
}

/** A version that a status change wrote, which the next one may replace. */
interface StatusVersion extends Place {
  /** The version, while it is not on disk. */
  pending: PlacedVersion | undefined;
  /** Revision of the version before it that is kept. */
  readonly replaced: number;
  /** Time of the first change that was dropped in favour of this one, or its own. */
  readonly since: number;
}

/** Changes that are not on disk yet. Drops status changes that others follow soon, here and on disk. */
export class PendingChanges {
  #versions: PlacedVersion[] = [];
  /** Versions that are not written, because others have replaced them. */
  #dropped = new Set<PlacedVersion>();
  #statuses: StatusVersion[] = [];
  #removed: RemovedVersion[] = [];
  #origins: NewOrigin[] = [];
  #bytes = 0;
  readonly #recent = new RecentStatus();
  #originPlaces = new Map<string, Place>();
  #originBlock = 0;
  #last: Place = { revision: 0, index: -1 };

  /** Bytes of the values. */
  get bytes(): number {
    return this.#bytes;
  }

  get count(): number {
    return this.#versions.length;
  }

  get isEmpty(): boolean {
    return this.#versions.length === 0 && this.#removed.length === 0;
  }

  add({ key, revision, value, previous, origin }: Change, time: number): void {
    const index = revision === this.#last.revision ? this.#last.index + 1 : 0;
    const place = { revision, index };
    this.#last = place;
    let replaced = previous?.revision ?? 0;
    const isStatus = origin?.isStatus === true && value !== null && previous !== undefined;
    let since = time;
    const dropped = isStatus ? this.#recent.of(key, replaced, time) : undefined;
    if (dropped) {
      this.#drop(key, dropped);
      ({ replaced, since } = dropped);
    }
    this.#bytes += value?.length ?? 0;
    const from = origin && this.#placeOf(origin, place);
    const request = origin?.request;
    const pending = { revision, index, version: { key, value, time, replaced, origin: from, request, isBase: false } };
    this.#versions.push(pending);
    if (!isStatus) return;
    const version: StatusVersion = { revision, index, replaced, since, pending };
    this.#statuses.push(version);
    this.#recent.set(key, version);
  }

  /** Returns everything, and begins anew. */
  take(): Batch {
    const dropped = this.#dropped;
    const versions = dropped.size > 0 ? this.#versions.filter((each) => !dropped.has(each)) : this.#versions;
    const batch = { versions, removed: this.#removed, origins: this.#origins };
    for (const status of this.#statuses) status.pending = undefined;
    this.#versions = [];
    this.#dropped = new Set();
    this.#statuses = [];
    this.#removed = [];
    this.#origins = [];
    this.#bytes = 0;
    return batch;
  }

  /** Forgets everything, because it was not written. */
  clear(): void {
    this.take();
    this.#recent.clear();
    this.#originPlaces.clear();
  }

  /** Lets the next status change of each key keep the version before it. */
  forgetRecent(): void {
    this.#recent.clear();
  }

  #drop(key: string, { revision, index, pending }: StatusVersion): void {
    if (pending) {
      this.#dropped.add(pending);
      this.#bytes -= pending.version.value?.length ?? 0;
    } else {
      this.#removed.push({ key, revision, index });
    }
  }

  /** Returns where an origin is, or will be. */
  #placeOf({ user, client, manager, isStatus }: Origin, place: Place): Place {
    const block = Math.floor(place.revision / ORIGIN_BLOCK);
    if (block !== this.#originBlock || this.#originPlaces.size >= MAX_ORIGINS) this.#originPlaces.clear();
    this.#originBlock = block;
    const id = `${user.length} ${client?.length} ${manager?.length} ${isStatus} ${user}${client}${manager}`;
    const known = this.#originPlaces.get(id);
    if (known) return known;
    this.#originPlaces.set(id, place);
    this.#origins.push({ place, origin: { user, client, manager, isStatus } });
    return place;
  }
}

/** Origins before the returned revision belong to changes up to the given one. */
export function originsBefore(revision: number): number {
  return Math.floor(revision / ORIGIN_BLOCK) * ORIGIN_BLOCK;
}

/** The status versions of the last minutes, by key. */
class RecentStatus {
  #young = new Map<string, StatusVersion>();
  #old = new Map<string, StatusVersion>();
  #began = 0;

  /** Returns the version that a change at a time replaces, if it should be dropped. */
  of(key: string, revision: number, time: number): StatusVersion | undefined {
    const found = this.#young.get(key) ?? this.#old.get(key);
    return found?.revision === revision && time - found.since < THINNED_MS ? found : undefined;
  }

  /** Versions leave after one to two minutes. */
  set(key: string, version: StatusVersion): void {
    if (version.since - this.#began >= THINNED_MS) {
      this.#old = this.#young;
      this.#young = new Map();
      this.#began = version.since;
    }
    this.#young.set(key, version);
  }

  clear(): void {
    this.#young.clear();
    this.#old.clear();
  }
}
