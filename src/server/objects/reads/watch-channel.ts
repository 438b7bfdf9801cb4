import type { WatchBatch, WatchEvent } from '../../../api/reply.ts';
import { joinSharable } from '../../../base/bytes/shared-buffer.ts';
import { getOrInsert } from '../../../base/collections/get-or-insert.ts';
import type { Entry } from '../cache/entry/entry.ts';
import type { View } from '../cache/entry/view.ts';
import { type ChangeRecord, ObjectEvent } from '../cache/history/change-record.ts';
import type { MaybeAsync } from '../conversion/convert.ts';
import type { Resource } from '../registry/registry.ts';
import type { Selection } from './selection.ts';

/** A running watch, as its channel sees it. */
export interface Member {
  /** Delivers a batch, in the order of the calls; a promise only if the kind is converted asynchronously. */
  deliver(batch: MaybeAsync<WatchBatch>): void;
  /** Sends the revision that the cache has reached, if the client requested bookmarks. */
  bookmark(): void;
  end(): void;
  /** Ends the watch with an error, when an object that it should show cannot be read. */
  fail(error: unknown): void;
}

/** Shares the work of watches with the same selection: selecting and encoding happen once for all of them. */
export class Channel {
  readonly members = new Set<Member>();
  #pending: WatchEvent[] = [];

  constructor(
    readonly resource: Resource,
    readonly namespace: string,
    readonly selection: Selection,
  ) {}

  /** Adds the event of a change for the members. Returns true for the first one since the last delivery. */
  take(record: ChangeRecord): boolean {
    const event = this.eventOf(record);
    if (!event) return false;
    return this.#pending.push(event) === 1;
  }

  deliver(): void {
    if (this.#pending.length === 0) return;
    const batches = batchesOf(this.#pending);
    this.#pending = [];
    for (const member of this.members) for (const batch of batches) member.deliver(batch);
  }

  /** Returns the events of a watch that begins with these objects. */
  present(entries: readonly Entry[]): MaybeAsync<WatchEvent[]> {
    return entries.filter(this.selection.matches).map((entry) => addedEvent(entry, this.resource));
  }

  /** Returns the events of changes made before a watch began. */
  eventsOf(records: readonly ChangeRecord[]): MaybeAsync<WatchEvent[]> {
    return records.map((record) => this.eventOf(record)).filter((event) => event !== undefined);
  }

  /** Returns a change as the selectors see it: an object that begins to match is ADDED, one that stops DELETED. */
  eventOf(record: ChangeRecord): WatchEvent | undefined {
    if (this.namespace && record.at.namespace !== this.namespace) return undefined;
    // An object that could not be read was never shown, so its removal is not reported.
    if (!record.entry && record.previous?.isUnreadable) return undefined;
    const was = record.previous !== undefined && this.selection.matches(record.previous);
    const is = record.entry !== undefined && this.selection.matches(record.entry);
    if (is) return record.event(was ? 'MODIFIED' : 'ADDED', this.resource);
    return was ? record.event('DELETED', this.resource) : undefined;
  }
}

const addedEvents = new WeakMap<View, ObjectEvent>();

/** Returns the initial event of an object. All watches share that of a large object. */
function addedEvent(entry: Entry, resource: Resource): ObjectEvent {
  if (entry.size < LARGE_EVENT_BYTES) return new ObjectEvent('ADDED', entry, resource);
  const view = entry.view(resource);
  return getOrInsert(addedEvents, view, () => new ObjectEvent('ADDED', entry, resource));
}

/** Size from which an event is a batch of its own, whose bytes channels share. */
const LARGE_EVENT_BYTES = 64 * 1024;

/** Divides events into batches; usually one. */
function batchesOf(events: readonly WatchEvent[]): WatchBatch[] {
  if (events.length === 1 || !events.some(isLarge)) return [batchOf(events)];
  const batches: WatchBatch[] = [];
  let small: WatchEvent[] = [];
  const endSmall = () => {
    if (small.length > 0) batches.push(batchOf(small));
    small = [];
  };
  for (const event of events) {
    if (isLarge(event)) {
      endSmall();
      batches.push(batchOf([event]));
    } else small.push(event);
  }
  endSmall();
  return batches;
}

function isLarge(event: WatchEvent): boolean {
  return event instanceof ObjectEvent && event.entry.size >= LARGE_EVENT_BYTES;
}

export function batchOf(events: readonly WatchEvent[]): WatchBatch {
  let json: Buffer | undefined;
  return {
    events,
    json() {
      json ??= events.length === 1 ? events[0]!.json() : joinSharable(events.map((event) => event.json()));
      return json;
    },
  };
}
