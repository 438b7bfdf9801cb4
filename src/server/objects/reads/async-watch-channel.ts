import type { WatchBatch, WatchEvent } from '../../../api/reply.ts';
import type { Entry } from '../cache/entry/entry.ts';
import { prepare } from '../cache/entry/prepare.ts';
import { type ChangeRecord, ObjectEvent } from '../cache/history/change-record.ts';
import type { Resource } from '../registry/registry.ts';
import type { Selection } from './selection.ts';
import { batchOf, Channel } from './watch-channel.ts';

/**
 * A channel of a kind that is converted asynchronously. Nothing can be selected or shown before it is converted, so
 * changes are kept unchanged, and members receive the promise of a batch: each delivers its batches in order.
 */
class AsyncChannel extends Channel {
  #records: ChangeRecord[] = [];

  override take(record: ChangeRecord): boolean {
    if (this.namespace && record.at.namespace !== this.namespace) return false;
    return this.#records.push(record) === 1;
  }

  override deliver(): void {
    if (this.#records.length === 0) return;
    const batch = this.#batchOf(this.#records);
    this.#records = [];
    // Members handle a failure, but none may be left.
    batch.catch(() => undefined);
    for (const member of this.members) member.deliver(batch);
  }

  override async eventsOf(records: readonly ChangeRecord[]): Promise<WatchEvent[]> {
    const involved = records.flatMap(({ entry, previous }) => [entry, previous]).filter((entry) => entry !== undefined);
    await prepare(involved, this.selection.reads);
    const events = records.map((record) => this.eventOf(record)).filter((event) => event !== undefined);
    const shown = events.map((event) => (event instanceof ObjectEvent ? event.entry : undefined));
    await prepare(
      shown.filter((entry) => entry !== undefined),
      this.resource,
    );
    return events;
  }

  override async present(entries: readonly Entry[]): Promise<WatchEvent[]> {
    await prepare(entries, this.selection.reads);
    const matching = entries.filter(this.selection.matches);
    await prepare(matching, this.resource);
    return super.present(matching);
  }

  async #batchOf(records: readonly ChangeRecord[]): Promise<WatchBatch> {
    return batchOf(await this.eventsOf(records));
  }
}

/** Creates the type of channel that the resource needs. */
export function channelOf(resource: Resource, namespace: string, selection: Selection): Channel {
  return new (resource.kind.conversion ? AsyncChannel : Channel)(resource, namespace, selection);
}
