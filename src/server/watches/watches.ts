/** The channels of all running watches, fed from the cache: what one batch of changes brought is delivered in one go. */
import type { Clock, Timer } from '../../base/clock.ts';
import type { WatchBatch } from '../api.ts';
import type { Cache } from '../cache/cache.ts';
import type { ChangeRecord } from '../cache/change-record.ts';
import type { Resource } from '../registry.ts';
import type { Selection } from '../selection.ts';
import { Channel } from './channel.ts';

/** How long after a change those who asked for bookmarks learn how far the cache has come. */
const BOOKMARK_DELAY = 60_000;

/** A running watch, as its channel sees it. */
export interface Member {
  deliver(batch: WatchBatch): void;
  /** Tell the client how far the cache has come, if it asked for that. */
  bookmark(): void;
  end(): void;
  /** Ends the watch with an error: an object that it should show cannot be read. */
  fail(error: unknown): void;
}

export class Watches {
  readonly #cache: Cache;
  readonly #clock: Clock;
  readonly #channels = new Map<string, { channel: Channel; stop: () => void }>();
  readonly #members = new Set<Member>();
  #dirty = new Set<Channel>();
  #bookmarks: Timer | undefined;

  constructor(cache: Cache, clock: Clock) {
    this.#cache = cache;
    this.#clock = clock;
    cache.onTurn(() => this.#turn());
  }

  /** Adds a member that has seen everything the cache has seen. Answers how it leaves. */
  join(what: { resource: Resource; namespace: string; selection: Selection }, member: Member): () => void {
    const key = `${what.resource.kind.plural}\n${what.resource.version.apiVersion}\n${what.namespace}\n${what.selection.text}`;
    const { channel, stop } =
      this.#channels.get(key) ?? this.#open(key, new Channel(what.resource, what.namespace, what.selection));
    channel.members.add(member);
    this.#members.add(member);
    return () => {
      channel.members.delete(member);
      this.#members.delete(member);
      if (channel.members.size > 0) return;
      stop();
      this.#channels.delete(key);
    };
  }

  /** Ends every watch cleanly: clients resume where they stand. */
  close(): void {
    this.#bookmarks?.cancel();
    for (const member of [...this.#members]) member.end();
  }

  #open(key: string, channel: Channel): { channel: Channel; stop: () => void } {
    const { listeners } = this.#cache.table(channel.resource.kind);
    const listen = (record: ChangeRecord) => {
      try {
        if (channel.take(record)) this.#dirty.add(channel);
      } catch (error) {
        for (const member of [...channel.members]) member.fail(error);
      }
    };
    listeners.add(listen);
    const open = { channel, stop: () => listeners.delete(listen) };
    this.#channels.set(key, open);
    return open;
  }

  #turn(): void {
    if (this.#dirty.size > 0) {
      const dirty = this.#dirty;
      this.#dirty = new Set();
      for (const channel of dirty) channel.deliver();
    }
    if (this.#members.size === 0) return;
    this.#bookmarks ??= this.#clock.timer(BOOKMARK_DELAY, () => {
      this.#bookmarks = undefined;
      for (const member of [...this.#members]) member.bookmark();
    });
  }
}
