/** Tells people what happened to an object: events of the core group, counted and combined (see event-correlation.ts). */
import { Backoff } from '../base/backoff.ts';
import { type Clock, sleep } from '../base/clock.ts';
import { isApiError } from '../base/errors.ts';
import { type Logger, silent } from '../base/log.ts';
import type { Random } from '../base/random.ts';
import { timestamp } from '../base/timestamp.ts';
import { Event } from '../kinds/core/event.ts';
import type { KubeObject } from '../kinds/kind.ts';
import type { Client } from './client.ts';
import { EventCorrelation, type EventRecord, type EventType } from './event-correlation.ts';
import type { DeepReadonly } from './object-types.ts';

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
}

/** What an event is about: a whole object, or as much as a reference to it needs. */
export type EventSubject = DeepReadonly<Pick<KubeObject, 'apiVersion' | 'kind' | 'metadata'>>;

export interface EventRecorder {
  /** Takes note and returns at once. It never fails: an event that cannot be written is dropped. */
  event(object: EventSubject, type: EventType, reason: string, message: string): void;
  /** Resolves when all that was recorded before has been written or dropped. */
  flushed(): Promise<void>;
}

/** Events that wait to be written; more are dropped. */
const WAITING = 1000;
const TRIES = 12;

interface Pending {
  readonly object: EventSubject;
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
  /** An event that is counted again while it waits is written once. */
  readonly #waiting = new Map<EventRecord, Pending>();
  #sending: Promise<void> | undefined;

  constructor(options: EventRecorderOptions) {
    this.#options = options;
    this.#log = options.log ?? silent;
    this.#correlation = new EventCorrelation(options.clock);
  }

  event(object: EventSubject, type: EventType, reason: string, message: string): void {
    if (this.#options.signal?.aborted) return;
    const record = this.#correlation.take(identityOf(object), { type, reason, message });
    if (!record || this.#waiting.size >= WAITING) return;
    this.#waiting.set(record, { object, type, reason, record });
    this.#sending ??= this.#send().finally(() => {
      this.#sending = undefined;
    });
  }

  async flushed(): Promise<void> {
    while (this.#sending) await this.#sending;
  }

  /** One after the other, so that the events of an object come in their order. */
  async #send(): Promise<void> {
    for (;;) {
      const [next] = this.#waiting.values();
      if (!next) return;
      this.#waiting.delete(next.record);
      await this.#write(next);
    }
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
    const events = client.of(Event).in(namespaceOf(pending.object));
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

  #eventOf({ object, type, reason, record }: Pending) {
    const { component, host } = this.#options;
    const { name = '', namespace, uid, resourceVersion } = object.metadata;
    const { apiVersion, kind } = object;
    return {
      metadata: { name: `${name}.${this.#hex(record.last)}`, namespace: namespaceOf(object) },
      involvedObject: { apiVersion, kind, name, namespace, uid, resourceVersion },
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

  /** The time in nanoseconds, of which chance makes the part that the clock does not know. */
  #hex(time: number): string {
    return (BigInt(Math.floor(time)) * 1_000_000n + BigInt(this.#options.random.int(1_000_000))).toString(16);
  }
}

/** What lives in no namespace has its events in `default`. */
const namespaceOf = ({ metadata }: EventSubject) => metadata.namespace || 'default';

function identityOf({ apiVersion, kind, metadata }: EventSubject): string {
  return [apiVersion, kind, metadata.namespace, metadata.name, metadata.uid].join('/');
}
