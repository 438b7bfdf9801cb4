/**
 * Correlates events before they are written: a repeated event counts up the first, many similar ones are combined, and
 * an object with too many is muted for a while.
 */
import type { Clock } from '../../base/time/clock.ts';

export type EventType = 'Normal' | 'Warning';

export interface EventContent {
  readonly type: EventType;
  readonly reason: string;
  readonly message: string;
}

/** The occurrences of one event. Mutable: its newest state is written. */
export interface EventRecord {
  readonly first: number;
  last: number;
  count: number;
  message: string;
  /** The name of the Event object, once it has one. */
  name: string | undefined;
}

/** Sizes of the caches of objects, groups and events, and the limit for the characters of their keys and messages. */
const MAX_CACHED = 4096;
const MAX_CACHED_CHARACTERS = 4 * 1024 * 1024;
/** Limits for similar events: so many of one reason, each within this time of the previous one, are combined. */
const MAX_SIMILAR_MESSAGES = 10;
const SIMILAR_WINDOW_MS = 600_000;
/** Token bucket of an object: its size, and the time until the next token. */
const EVENT_BURST = 25;
const EVENT_REFILL_MS = 300_000;

interface Similar {
  readonly messages: Set<string>;
  last: number;
}

interface TokenBucket {
  left: number;
  at: number;
}

export class EventCorrelation {
  readonly #similar = new RecentlyUsed<Similar>();
  readonly #records = new RecentlyUsed<EventRecord>();
  readonly #buckets = new RecentlyUsed<TokenBucket>();

  constructor(private readonly clock: Clock) {}

  /** Counts the event and returns its record; undefined when it must not be written. `object` identifies the object. */
  record(object: string, content: EventContent): EventRecord | undefined {
    const { key, message } = this.#aggregate(object, content);
    const record = this.#count(key, message);
    return this.#isAllowed(object) ? record : undefined;
  }

  #aggregate(object: string, { type, reason, message }: EventContent): { key: string; message: string } {
    const now = this.clock.now();
    const group = `${object}\n${type}\n${reason}`;
    const known = this.#similar.get(group);
    const similar = known && now - known.last <= SIMILAR_WINDOW_MS ? known : { messages: new Set<string>(), last: now };
    similar.last = now;
    similar.messages.add(message);
    this.#similar.set(group, similar, lengthOf(similar.messages));
    if (similar.messages.size < MAX_SIMILAR_MESSAGES) return { key: `${group}\n${message}`, message };
    const [oldest] = similar.messages;
    similar.messages.delete(oldest as string);
    return { key: group, message: `(combined from similar events): ${message}` };
  }

  #count(key: string, message: string): EventRecord {
    const now = this.clock.now();
    const record = this.#records.get(key) ?? { first: now, last: now, count: 0, message, name: undefined };
    record.count++;
    record.last = now;
    record.message = message;
    this.#records.set(key, record, message.length);
    return record;
  }

  #isAllowed(object: string): boolean {
    const now = this.clock.now();
    const allowance = this.#buckets.get(object) ?? { left: EVENT_BURST, at: now };
    allowance.left = Math.min(EVENT_BURST, allowance.left + (now - allowance.at) / EVENT_REFILL_MS);
    allowance.at = now;
    this.#buckets.set(object, allowance);
    if (allowance.left < 1) return false;
    allowance.left--;
    return true;
  }
}

function lengthOf(messages: ReadonlySet<string>): number {
  let sum = 0;
  for (const { length } of messages) sum += length;
  return sum;
}

/** A map that evicts the least recently used entries. */
class RecentlyUsed<T> {
  readonly #entries = new Map<string, { readonly value: T; readonly characters: number }>();
  #characters = 0;

  get(key: string): T | undefined {
    return this.#entries.get(key)?.value;
  }

  /** `characters`: the length of the text in the value. */
  set(key: string, value: T, characters = 0): void {
    this.#drop(key);
    this.#entries.set(key, { value, characters: key.length + characters });
    this.#characters += key.length + characters;
    while (this.#entries.size > MAX_CACHED || this.#characters > MAX_CACHED_CHARACTERS) {
      const [oldest] = this.#entries.keys();
      this.#drop(oldest as string);
    }
  }

  #drop(key: string): void {
    this.#characters -= this.#entries.get(key)?.characters ?? 0;
    this.#entries.delete(key);
  }
}
