/** Tells people what happened to an object: events of the core group, counted and combined (see event-correlation.ts). */
import { Backoff } from '../../base/backoff.ts';
import { type Clock, sleep } from '../../base/clock.ts';
import { isApiError } from '../../base/errors.ts';
import { type Logger, silent } from '../../base/log.ts';
import type { Random } from '../../base/random.ts';
import { timestamp } from '../../base/timestamp.ts';
import { Event } from '../../kinds/groups/core/event.ts';
import type { KubeObject } from '../../kinds/kind.ts';
import type { Client } from '../client.ts';
import type { DeepReadonly } from '../object-types.ts';
import { EventCorrelation, type EventRecord, type EventType } from './event-correlation.ts';

export type { EventType } from './event-correlation.ts';

export interface EventRecorderOptions {
  readonly client: Client;
  readonly clock: Clock;
  readonly random: Random;
  /** Who reports, such as `replicaset-controller`. */
  readonly component: string;
  /** The machine that it reports from, where that matters. */
  readonly host?: string;
  readonly log?: Logger;
  /** Ends recording; what was not sent by then is lost. */
  readonly signal?: AbortSignal;
  /** How many events may wait to be written; more are lost. Default: 100,000. */
  readonly room?: number;
}

/** What an event is about: a whole object, or as much as a reference to it needs. */
export type EventSubject = DeepReadonly<Pick<KubeObject, 'apiVersion' | 'kind' | 'metadata'>> & {
  /** Which part of it: `spec.containers{main}`. */
  readonly fieldPath?: string;
};

export interface EventRecorder {
  /** Takes note and returns at once. It never fails: an event that cannot be written is dropped. */
  event(object: EventSubject, type: EventType, reason: string, message: string): void;
  /** Resolves when all that was recorded before has been written or dropped. */
  flushed(): Promise<void>;
}

/**
 * A burst leaves a long line, which is worked off when there is time: what was not left out as too much of the same is not
 * to be lost. So many take some tens of megabytes.
 */
const ROOM = 100_000;
const TRIES = 12;

/** What an event needs to know of its object, which is not held on to. */
interface Reference {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  readonly namespace: string | undefined;
  readonly uid: string | undefined;
  readonly resourceVersion: string | undefined;
  readonly fieldPath?: string;
}

interface Pending {
  readonly about: Reference;
  readonly type: EventType;
  readonly reason: string;
  readonly record: EventRecord;
}

export function createEventRecorder(options: EventRecorderOptions): EventRecorder {
  return new Recorder(options);
}

class Recorder implements EventRecorder {
  readonly #options: EventRecorderOptions;
  readonly #log: Logger;
  readonly #correlation: EventCorrelation;
  readonly #room: number;
  /** An event that is counted again while it waits is written once. */
  readonly #waiting = new Map<EventRecord, Pending>();
  #sending: Promise<void> | undefined;
  #lost = 0;
  /** What the name of the last event ended with. */
  #newest = 0n;

  constructor(options: EventRecorderOptions) {
    this.#options = options;
    this.#log = options.log ?? silent;
    this.#correlation = new EventCorrelation(options.clock);
    this.#room = options.room ?? ROOM;
  }

  event(object: EventSubject, type: EventType, reason: string, message: string): void {
    if (this.#options.signal?.aborted) return;
    const about = referenceTo(object);
    const record = this.#correlation.take(identityOf(about), { type, reason, message });
    if (!record) return;
    if (this.#waiting.size >= this.#room && !this.#waiting.has(record)) {
      this.#lost++;
      return;
    }
    this.#waiting.set(record, { about, type, reason, record });
    this.#sending ??= this.#send();
  }

  async flushed(): Promise<void> {
    while (this.#sending) await this.#sending;
  }

  /** One after the other, so that the events of an object come in their order. Those that come meanwhile are sent, too. */
  async #send(): Promise<void> {
    for (const [record, next] of this.#waiting) {
      this.#waiting.delete(record);
      await this.#write(next);
    }
    this.#sending = undefined;
    if (this.#lost > 0) this.#log.warn('events are lost: too many came at once', { count: this.#lost });
    this.#lost = 0;
  }

  async #write(pending: Pending): Promise<void> {
    const { clock, random, signal } = this.#options;
    const backoff = new Backoff({ base: 1000, max: 10_000 }, random);
    for (let tries = 1; ; tries++) {
      try {
        await this.#once(pending);
        return;
      } catch (error) {
        if (signal?.aborted) {
          this.#waiting.clear();
          return;
        }
        if (!isApiError(error) || !error.retryable || tries >= TRIES) {
          // That the namespace is on its way out is nobody's mistake.
          const say = isApiError(error, 'AlreadyExists', 'Forbidden', 'NotFound') ? 'debug' : 'warn';
          this.#log[say]('an event is lost', { reason: pending.reason, error: String(error) });
          return;
        }
        await sleep(clock, backoff.next(), signal).catch(() => undefined);
      }
    }
  }

  async #once(pending: Pending): Promise<void> {
    const { record } = pending;
    const { client, signal } = this.#options;
    const events = client.of(Event).in(namespaceOf(pending.about));
    const write = signal ? { signal } : {};
    if (record.name !== undefined) {
      const { count, message } = record;
      const changes = { count, message, lastTimestamp: timestamp(record.last) };
      const isThere = await events.patch(record.name, { type: 'merge', changes }, write).then(
        () => true,
        (error: unknown) => {
          if (isApiError(error, 'NotFound')) return false;
          throw error;
        },
      );
      if (isThere) return;
    }
    const event = this.#eventOf(pending);
    await events.create(event, write);
    record.name = event.metadata.name;
  }

  #eventOf({ about, type, reason, record }: Pending) {
    const { component, host } = this.#options;
    return {
      metadata: { name: `${about.name}.${this.#hex(record.last)}`, namespace: namespaceOf(about) },
      involvedObject: about,
      type,
      reason,
      message: record.message,
      count: record.count,
      firstTimestamp: timestamp(record.first),
      lastTimestamp: timestamp(record.last),
      source: { component, ...(host ? { host } : {}) },
      reportingComponent: component,
      ...(host ? { reportingInstance: host } : {}),
    };
  }

  /**
   * The time in nanoseconds, of which chance makes the part that the clock does not know. It grows with every event, since
   * lists have events by their names, and people read the order of what happened from it.
   */
  #hex(time: number): string {
    const { random } = this.#options;
    const drawn = BigInt(Math.floor(time)) * 1_000_000n + BigInt(random.int(1_000_000));
    this.#newest = drawn > this.#newest ? drawn : this.#newest + 1n + BigInt(random.int(1_000));
    return this.#newest.toString(16);
  }
}

function referenceTo({ apiVersion, kind, metadata, fieldPath }: EventSubject): Reference {
  const { name = '', namespace, uid, resourceVersion } = metadata;
  return { apiVersion, kind, name, namespace, uid, resourceVersion, ...(fieldPath ? { fieldPath } : {}) };
}

/** What lives in no namespace has its events in `default`. */
const namespaceOf = ({ namespace }: Reference) => namespace || 'default';

function identityOf({ apiVersion, kind, namespace, name, uid, fieldPath = '' }: Reference): string {
  return [apiVersion, kind, namespace, name, uid, fieldPath].join('/');
}
