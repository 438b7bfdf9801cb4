/**
 * What becomes of events before they are written, so that a noisy object does not drown the others: an event that was
 * seen before raises the count of the first, many that differ only in their message become one, and an object that
 * brings too many is left out for a while.
 */
import type { Clock } from '../../base/clock.ts';

export type EventType = 'Normal' | 'Warning';

/** What an event says. */
export interface Happening {
  readonly type: EventType;
  readonly reason: string;
  readonly message: string;
}

/** Equal happenings to one object, as one event. It changes: what is written is its newest state. */
export interface EventRecord {
  readonly first: number;
  last: number;
  count: number;
  message: string;
  /** The name of the event in the cluster, once it was given one. */
  name: string | undefined;
}

/** How many objects, groups of similar events, and events are remembered. */
const REMEMBERED = 4096;
/** So many different messages of one reason, each within the time after the one before, are combined. */
const SIMILAR = 10;
const SIMILAR_WITHIN = 600_000;
/** How many events an object may bring at once, and how long until it may bring another. */
const BURST = 25;
const REFILL = 300_000;

interface Similar {
  readonly messages: Set<string>;
  last: number;
}

interface Allowance {
  left: number;
  at: number;
}

export class EventCorrelation {
  readonly #clock: Clock;
  readonly #similar = new RecentlyUsed<Similar>();
  readonly #records = new RecentlyUsed<EventRecord>();
  readonly #allowances = new RecentlyUsed<Allowance>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** The record that the happening was counted in; undefined when it is not to be written. `object` is its identity. */
  take(object: string, happening: Happening): EventRecord | undefined {
    const { key, message } = this.#aggregate(object, happening);
    const record = this.#count(key, message);
    return this.#isAllowed(object) ? record : undefined;
  }

  #aggregate(object: string, { type, reason, message }: Happening): { key: string; message: string } {
    const now = this.#clock.now();
    const group = `${object}\n${type}\n${reason}`;
    const known = this.#similar.get(group);
    const similar = known && now - known.last <= SIMILAR_WITHIN ? known : { messages: new Set<string>(), last: now };
    similar.last = now;
    similar.messages.add(message);
    this.#similar.set(group, similar);
    if (similar.messages.size < SIMILAR) return { key: `${group}\n${message}`, message };
    const [oldest] = similar.messages;
    similar.messages.delete(oldest as string);
    return { key: group, message: `(combined from similar events): ${message}` };
  }

  #count(key: string, message: string): EventRecord {
    const now = this.#clock.now();
    const record = this.#records.get(key) ?? { first: now, last: now, count: 0, message, name: undefined };
    record.count++;
    record.last = now;
    record.message = message;
    this.#records.set(key, record);
    return record;
  }

  #isAllowed(object: string): boolean {
    const now = this.#clock.now();
    const allowance = this.#allowances.get(object) ?? { left: BURST, at: now };
    allowance.left = Math.min(BURST, allowance.left + (now - allowance.at) / REFILL);
    allowance.at = now;
    this.#allowances.set(object, allowance);
    if (allowance.left < 1) return false;
    allowance.left--;
    return true;
  }
}

/** Forgets what was longest without use. */
class RecentlyUsed<T> {
  readonly #entries = new Map<string, T>();

  get(key: string): T | undefined {
    return this.#entries.get(key);
  }

  set(key: string, value: T): void {
    this.#entries.delete(key);
    this.#entries.set(key, value);
    if (this.#entries.size <= REMEMBERED) return;
    const [oldest] = this.#entries.keys();
    this.#entries.delete(oldest as string);
  }
}
