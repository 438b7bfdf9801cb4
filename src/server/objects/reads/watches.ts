/** The channels of all running watches, fed from the cache. Events of one batch of changes are delivered together. */
import { ApiError } from '../../../api/errors.ts';
import { getOrInsert } from '../../../base/collections/get-or-insert.ts';
import type { Work, WorkMonitor } from '../../../base/event-loop/watchdog.ts';
import type { Timer } from '../../../base/time/clock.ts';
import type { Tools } from '../../../base/tools.ts';
import type { Cache } from '../cache/cache.ts';
import type { ChangeRecord } from '../cache/history/change-record.ts';
import type { Registry, Resource } from '../registry/registry.ts';
import { channelOf } from './async-watch-channel.ts';
import type { Selection } from './selection.ts';
import { WatchBacklogs } from './watch-backlogs.ts';
import type { Channel, Member } from './watch-channel.ts';

const DEFAULT_BOOKMARK_DELAY_MS = 60_000;

/** Length up to which a selector does not count: parsed ones stay in memory, and are tested for every change. */
const UNCOUNTED_SELECTOR_CHARACTERS = 256;
/** Limit for the length of long selectors, for all watches together. */
const MAX_SELECTOR_CHARACTERS = 2 * 1024 * 1024;

/** The name of this work in the watchdog. */
const DELIVERY: Work = { work: 'watch events', describe: () => ({}) };

export interface WatchesOptions extends Pick<Tools, 'clock' | 'log'> {
  readonly cache: Cache;
  readonly registry: Registry;
  readonly monitor: WorkMonitor;
  /** Delay after a change before clients that requested bookmarks get one. */
  readonly bookmarkDelayMs?: number | undefined;
}

interface OpenChannel {
  readonly members: Set<Member>;
  readonly stop: () => void;
}

export class Watches {
  readonly #bookmarkDelayMs: number;
  /** Channels by resource, and by namespace and selectors. */
  readonly #channels = new Map<Resource, Map<string, OpenChannel>>();
  readonly #members = new Set<Member>();
  #selectorCharacters = 0;
  #dirty = new Set<Channel>();
  #bookmarks: Timer | undefined;
  readonly backlogs: WatchBacklogs;

  constructor(private readonly options: WatchesOptions) {
    const { cache, clock, registry, log, bookmarkDelayMs } = options;
    this.#bookmarkDelayMs = bookmarkDelayMs ?? DEFAULT_BOOKMARK_DELAY_MS;
    this.backlogs = new WatchBacklogs({ clock, log });
    cache.onTurn(() => this.#turn());
    registry.onChange(() => this.#endUnserved());
  }

  /**
   * Adds a member that has seen everything the cache has seen. Returns a function to leave; undefined if the resource
   * is no longer served. Throws when the selectors of all watches together are too long.
   */
  join(
    what: { resource: Resource; namespace: string; selection: Selection },
    member: Member,
  ): (() => void) | undefined {
    const { resource, namespace, selection } = what;
    if (!this.options.registry.serves(resource)) return undefined;
    const counted = Math.max(0, selection.text.length - UNCOUNTED_SELECTOR_CHARACTERS);
    if (counted > 0 && this.#selectorCharacters + counted > MAX_SELECTOR_CHARACTERS) throw tooManySelectors();
    this.#selectorCharacters += counted;
    const channels = getOrInsert(this.#channels, resource, () => new Map<string, OpenChannel>());
    const key = `${namespace}\n${selection.text}`;
    const open = getOrInsert(channels, key, () => this.#open(channelOf(resource, namespace, selection)));
    open.members.add(member);
    this.#members.add(member);
    return () => {
      this.#selectorCharacters -= counted;
      open.members.delete(member);
      this.#members.delete(member);
      if (open.members.size > 0 || channels.get(key) !== open) return;
      open.stop();
      channels.delete(key);
      if (channels.size === 0) this.#channels.delete(resource);
    };
  }

  /** Ends every watch cleanly: clients resume from the last event that they have seen. */
  close(): void {
    this.#bookmarks?.cancel();
    this.backlogs.close();
    for (const member of [...this.#members]) member.end();
  }

  #open(channel: Channel): OpenChannel {
    const { listeners } = this.options.cache.table(channel.resource.kind);
    const listen = (record: ChangeRecord) => {
      try {
        if (channel.take(record)) this.#dirty.add(channel);
      } catch (error) {
        for (const member of [...channel.members]) member.fail(error);
      }
    };
    listeners.add(listen);
    return { members: channel.members, stop: () => listeners.delete(listen) };
  }

  /** Ends the watches of kinds that were removed or replaced. */
  #endUnserved(): void {
    for (const [resource, channels] of [...this.#channels]) {
      if (this.options.registry.serves(resource)) continue;
      for (const { members } of [...channels.values()]) for (const member of [...members]) member.end();
    }
  }

  #turn(): void {
    if (this.#dirty.size > 0) {
      this.options.monitor.begin(DELIVERY);
      const dirty = this.#dirty;
      this.#dirty = new Set();
      for (const channel of dirty) channel.deliver();
    }
    if (this.#members.size === 0) return;
    this.#bookmarks ??= this.options.clock.timer(this.#bookmarkDelayMs, () => {
      this.#bookmarks = undefined;
      for (const member of [...this.#members]) member.bookmark();
    });
  }
}

const tooManySelectors = () =>
  new ApiError('TooManyRequests', 'the watches that run have too long selectors together, please try again later', {
    details: { retryAfterSeconds: 1 },
  });
