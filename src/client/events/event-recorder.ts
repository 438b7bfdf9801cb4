/** Records events about objects, in the core group, counted and combined (see event-correlation.ts). */

import { isApiError } from '../../api/errors.ts';
import type { DeepReadonly } from '../../api/object-types.ts';
import { type Logger, silent } from '../../base/log.ts';
import { Backoff } from '../../base/time/backoff.ts';
import { sleep } from '../../base/time/clock.ts';
import { timestamp } from '../../base/time/timestamp.ts';
import { Event } from '../../kinds/groups/core/event/event.ts';
import type { KubeObject } from '../../kinds/kind.ts';
import type { ClientTools } from '../client.ts';
import { EventCorrelation, type EventRecord, type EventType } from './event-correlation.ts';

export type { EventType } from './event-correlation.ts';

export interface EventRecorderOptions extends Omit<ClientTools, 'log'> {
  /** The reporting component, such as `replicaset-controller`. */
  readonly component: string;
  readonly host?: string;
  readonly log?: Logger;
  /** Stops recording; events that were not sent by then are lost. */
  readonly signal?: AbortSignal;
  /** Limit for events waiting to be written; more are dropped. Default: 100,000. */
  readonly maxQueued?: number;
}

/** The object of an event, or enough of it for a reference. */
export type EventSubject = DeepReadonly<Pick<KubeObject, 'apiVersion' | 'kind' | 'metadata'>> & {
  /** Part of the object: `spec.containers{main}`. */
  readonly fieldPath?: string;
};

export interface EventRecorder {
  /** Queues the event and returns at once. Never fails: an event that cannot be written is dropped. */
  event(object: EventSubject, type: EventType, reason: string, message: string): void;
  /** Resolves when all events recorded before have been written or dropped. */
  flushed(): Promise<void>;
}

/**
 * A burst leaves a long queue that is written when there is time: events that passed correlation should not be lost. A
 * full queue takes some tens of megabytes.
 */
const MAX_QUEUED_EVENTS = 100_000;
const MAX_TRIES = 12;

/** The limit of the API for notes. A message may quote an error, which quotes client input. */
const MAX_MESSAGE_LENGTH = 1024;

const shortened = (message: string) =>
  message.length <= MAX_MESSAGE_LENGTH ? message : `${message.slice(0, MAX_MESSAGE_LENGTH - 4)} ...`;

/** The parts of the object that are kept while the event waits. */
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
  readonly #log: Logger;
  readonly #correlation: EventCorrelation;
  readonly #maxQueued: number;
  /** Queued events by record: an event that is counted again while it waits is written once. */
  readonly #waiting = new Map<EventRecord, Pending>();
  #sending: Promise<void> | undefined;
  #lost = 0;
  /** The number in the last event's name. */
  #newest = 0n;

  constructor(private readonly options: EventRecorderOptions) {
    this.#log = options.log ?? silent;
    this.#correlation = new EventCorrelation(options.clock);
    this.#maxQueued = options.maxQueued ?? MAX_QUEUED_EVENTS;
  }

  event(object: EventSubject, type: EventType, reason: string, message: string): void {
    if (this.options.signal?.aborted) return;
    const about = referenceTo(object);
    const record = this.#correlation.record(identityOf(about), { type, reason, message: shortened(message) });
    if (!record) return;
    if (this.#waiting.size >= this.#maxQueued && !this.#waiting.has(record)) {
      this.#lost++;
      return;
    }
    this.#waiting.set(record, { about, type, reason, record });
    this.#sending ??= this.#send();
  }

  async flushed(): Promise<void> {
    while (this.#sending) await this.#sending;
  }

  /** Sends one event at a time, to keep the events of an object in order, until the queue is empty. */
  async #send(): Promise<void> {
    for (const [record, next] of this.#waiting) {
      this.#waiting.delete(record);
      await this.#write(next);
    }
    this.#sending = undefined;
    if (this.#lost > 0) this.#log.warn('events were dropped: too many at once', { count: this.#lost });
    this.#lost = 0;
  }

  async #write(pending: Pending): Promise<void> {
    const { clock, random, signal } = this.options;
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
        if (!isApiError(error) || !error.retryable || tries >= MAX_TRIES) {
          // Failures because the namespace is terminating are expected.
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
    const { client, signal } = this.options;
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
    const { component, host } = this.options;
    return {
      metadata: { name: `${about.name}.${this.#hex(record.last)}`, namespace: namespaceOf(about) },
      involvedObject: about,
      type,
      reason,
      message: record.message,
      count: record.count,
      firstTimestamp: timestamp(record.first),
      lastTimestamp: timestamp(record.last),
      source: { component, host: host || undefined },
      reportingComponent: component,
      reportingInstance: host || undefined,
    };
  }

  /**
   * Returns the time in nanoseconds with random last digits. It grows with every event, since lists are sorted by name
   * and readers infer the order of events from it.
   */
  #hex(time: number): string {
    const { random } = this.options;
    const drawn = BigInt(Math.floor(time)) * 1_000_000n + BigInt(random.int(1_000_000));
    this.#newest = drawn > this.#newest ? drawn : this.#newest + 1n + BigInt(random.int(1_000));
    return this.#newest.toString(16);
  }
}

function referenceTo({ apiVersion, kind, metadata, fieldPath }: EventSubject): Reference {
  const { name = '', namespace, uid, resourceVersion } = metadata;
  return { apiVersion, kind, name, namespace, uid, resourceVersion, fieldPath: fieldPath || undefined };
}

/** Events about cluster-scoped objects are in `default`. */
const namespaceOf = ({ namespace }: Reference) => namespace || 'default';

function identityOf({ apiVersion, kind, namespace, name, uid, fieldPath = '' }: Reference): string {
  return [apiVersion, kind, namespace, name, uid, fieldPath].join('/');
}
