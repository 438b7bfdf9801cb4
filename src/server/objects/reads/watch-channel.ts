import type { WatchBatch, WatchEvent } from '../../../api/reply.ts';
import { joinSharable } from '../../../base/bytes/shared-buffer.ts';
import { type ChangeRecord, ObjectEvent } from '../cache/change-record.ts';
import type { Entry } from '../cache/entry.ts';
import type { View } from '../cache/view.ts';
import type { MaybeAsync } from '../conversion/convert.ts';
import type { Resource } from '../registry/registry.ts';
import type { Selection } from './selection.ts';

/** A running watch, as its channel sees it. */
export interface Member {
  /** A promise only where the kind is converted asynchronously. Batches are to be delivered in the order of the calls. */
  deliver(batch: MaybeAsync<WatchBatch>): void;
  /** Sends a client that asked for bookmarks the revision that the cache has reached. */
  bookmark(): void;
  end(): void;
  /** Ends the watch with an error: an object that it should show cannot be read. */
  fail(error: unknown): void;
}

/** What all watches of the same thing share: selecting and encoding happen once for all of them. */
export class Channel {
  readonly members = new Set<Member>();
  #pending: WatchEvent[] = [];

  constructor(
    readonly resource: Resource,
    readonly namespace: string,
    readonly selection: Selection,
  ) {}

  /** Keeps the event that members should see of a change. Returns true for the first one since the last delivery. */
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

  /** The events of a watch that begins with these objects. */
  present(entries: readonly Entry[]): MaybeAsync<WatchEvent[]> {
    return entries.filter(this.selection.matches).map((entry) => addedEvent(entry, this.resource));
  }

  /** The events of changes that were made before a watch began. */
  eventsOf(records: readonly ChangeRecord[]): MaybeAsync<WatchEvent[]> {
    return records.map((record) => this.eventOf(record)).filter((event) => event !== undefined);
  }

  /** A change as seen through the selectors: an object that begins to match is ADDED, one that ends to is DELETED. */
  eventOf(record: ChangeRecord): WatchEvent | undefined {
    if (this.namespace && record.at.namespace !== this.namespace) return undefined;
    // Nobody was ever shown an object that could not be read, so that nobody misses it.
    if (!record.entry && record.previous?.isUnreadable) return undefined;
    const was = record.previous !== undefined && this.selection.matches(record.previous);
    const is = record.entry !== undefined && this.selection.matches(record.entry);
    if (is) return record.event(was ? 'MODIFIED' : 'ADDED', this.resource);
    return was ? record.event('DELETED', this.resource) : undefined;
  }
}

const addedEvents = new WeakMap<View, ObjectEvent>();

/** The event of an object that a watch begins with. That of a large object is shared by all watches. */
function addedEvent(entry: Entry, resource: Resource): ObjectEvent {
  if (entry.size < LARGE_EVENT_BYTES) return new ObjectEvent('ADDED', entry, resource);
  const view = entry.view(resource);
  let event = addedEvents.get(view);
  if (!event) {
    event = new ObjectEvent('ADDED', entry, resource);
    addedEvents.set(view, event);
  }
  return event;
}

/** From this size on, an event is a batch of its own, whose bytes channels share. */
const LARGE_EVENT_BYTES = 64 * 1024;

/** The events as batches. Mostly one. */
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
