import type { Logger } from '../../base/log.ts';
import { type Clock, sleep } from '../../base/time/clock.ts';
import type { GrpcClient } from '../../protocols/grpc/client.ts';
import { decodeOrigin, ORIGIN_KEY, type TimedOrigin } from '../origin-row.ts';
import { type Change, type Row, StoreCompacted, StoreUnavailable, type Watcher } from '../store.ts';
import type { Connection } from './connection.ts';
import type { Keyspace } from './keyspace.ts';
import { EventType, type KeyValue, type WatchEvent, type WatchResponse } from './messages.ts';
import { methods } from './methods.ts';

export interface WatchOptions {
  readonly connection: Connection;
  readonly keyspace: Keyspace;
  readonly clock: Clock;
  readonly log: Logger;
  /** Rejects unless all changes after this revision are still available. */
  check(revision: number): Promise<void>;
}

/** Delay between attempts, for an etcd that accepts connections but rejects watches. */
const RETRY_MS = 100;

/** A watch that outlives connections: after each, it resumes after the last revision that was delivered. */
export class EtcdWatch {
  readonly #ending = new AbortController();
  readonly #originKey: Buffer;
  /** The last revision up to which everything was delivered. */
  #position: number;

  constructor(
    private readonly options: WatchOptions,
    after: number,
    private readonly watcher: Watcher,
  ) {
    this.#position = after;
    this.#originKey = options.keyspace.write(ORIGIN_KEY);
  }

  /** Runs the watch. Resolves when it has ended, for whatever reason. */
  async run(): Promise<void> {
    const { signal } = this.#ending;
    while (!signal.aborted) {
      try {
        await this.options.check(this.#position);
        if (signal.aborted) return;
        await this.#follow(await this.options.connection.ready());
      } catch (error) {
        if (signal.aborted) return;
        if (!(error instanceof StoreUnavailable)) return this.end(error as Error);
        this.options.log.warn('a watch on etcd was interrupted and is resumed', { error });
        await sleep(this.options.clock, RETRY_MS, signal).catch(() => {});
      }
    }
  }

  stop(): void {
    this.#ending.abort();
  }

  /** Stops, and reports the reason to the watcher. */
  end(error: Error | undefined): void {
    if (this.#ending.signal.aborted) return;
    this.#ending.abort();
    this.watcher.closed(error);
  }

  /** Follows one stream. Rejects when it ends: with StoreUnavailable when another one can resume. */
  #follow(client: GrpcClient): Promise<void> {
    const { signal } = this.#ending;
    const { keyspace, log } = this.options;
    let pending: WatchEvent[] = [];
    return new Promise((resolve, reject) => {
      // The watch may have been stopped while the connection was opened.
      if (signal.aborted) return resolve();
      const stop = () => {
        stream.cancel();
        resolve();
      };
      const fail = (error: Error) => {
        signal.removeEventListener('abort', stop);
        stream.cancel();
        reject(error);
      };
      const stream = client.stream(methods.watch, {
        message: (response) => {
          if (response.canceled) return fail(rejection(response));
          const events = pending.length > 0 ? [...pending, ...response.events] : response.events;
          pending = response.fragment ? [...events] : [];
          if (response.fragment) return;
          try {
            this.#deliver(events, response);
          } catch (error) {
            log.error('a watcher threw an error and is closed', { error });
            fail(error as Error);
          }
        },
        ended: (cause) => fail(new StoreUnavailable('the stream of a watch ended', { cause })),
      });
      signal.addEventListener('abort', stop, { once: true });
      stream.send({
        create: {
          ...keyspace.range(this.watcher.prefix ?? ''),
          startRevision: this.#position + 1,
          progressNotify: true,
          previous: true,
          fragment: true,
        },
      });
    });
  }

  #deliver(events: readonly WatchEvent[], { header, created }: WatchResponse): void {
    const origins = this.#originsIn(events);
    const changes = events
      .filter(({ kv }) => kv.modRevision > this.#position && this.options.keyspace.holds(kv.key))
      .map((event) => this.#change(event, origins.get(event.kv.modRevision)));
    const last = events.at(-1)?.kv.modRevision;
    // A response without events means that nothing happened up to its revision, except for the one that opens a watch.
    const through = last ?? (created ? 0 : header.revision);
    this.#position = Math.max(this.#position, through);
    if (changes.length > 0) this.watcher.changes(changes);
    const delivered = changes.at(-1)?.revision ?? 0;
    if (delivered < through) this.watcher.progress?.(this.#position);
  }

  /** Returns the origins of the revisions that have one. */
  #originsIn(events: readonly WatchEvent[]): ReadonlyMap<number, TimedOrigin> {
    const origins = new Map<number, TimedOrigin>();
    for (const { kv } of events) {
      const origin = kv.key.equals(this.#originKey) ? decodeOrigin(kv.value) : undefined;
      if (origin) origins.set(kv.modRevision, origin);
    }
    return origins;
  }

  #change({ type, kv, previous }: WatchEvent, { origin, time }: Partial<TimedOrigin> = {}): Change {
    const { keyspace } = this.options;
    const row = (each: KeyValue): Row => ({
      key: keyspace.read(each.key),
      value: each.value,
      revision: each.modRevision,
    });
    return {
      key: keyspace.read(kv.key),
      revision: kv.modRevision,
      value: type === EventType.DELETE ? null : kv.value,
      previous: previous ? row(previous) : undefined,
      origin,
      time,
    };
  }
}

function rejection({ compactRevision, cancelReason }: WatchResponse): Error {
  if (compactRevision > 0) return new StoreCompacted(compactRevision);
  return new StoreUnavailable(`etcd ended a watch: ${cancelReason}`);
}
