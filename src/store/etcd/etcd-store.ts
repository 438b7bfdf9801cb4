import { ShortLivedMap } from '../../base/collections/short-lived-map.ts';
import { type Logger, silent } from '../../base/log.ts';
import type { Clock } from '../../base/time/clock.ts';
import type { TlsOptions } from '../../protocols/grpc/client.ts';
import { HISTORY_MILLISECONDS } from '../history-options.ts';
import { checkWrites } from '../keys.ts';
import { encodeOrigin, ORIGIN_KEY } from '../origin-row.ts';
import {
  type Condition,
  type ListOptions,
  type Origin,
  type Row,
  type Rows,
  type Store,
  StoreAhead,
  StoreCompacted,
  StoreConflict,
  StoreUnavailable,
  type Subscription,
  type Watcher,
  type Write,
} from '../store.ts';
import { Compactor } from './compactor.ts';
import { Connection, EtcdRejection } from './connection.ts';
import { Keyspace, ZERO } from './keyspace.ts';
import {
  type Compare,
  CompareTarget,
  type KeyValue,
  type RangeRequest,
  type RangeResponse,
  type RequestOperation,
  type TxnResponse,
} from './messages.ts';
import { methods } from './methods.ts';
import { EtcdWatch } from './watch.ts';

export interface EtcdStoreOptions {
  /** URLs such as `http://HOST:PORT` or `https://HOST:PORT`. */
  readonly endpoints: readonly string[];
  readonly tls?: TlsOptions;
  /** Prefix of every key in etcd; default: none, so that other programs find `/registry/…`. */
  readonly prefix?: string;
  readonly clock: Clock;
  /** Timeout of a request, which then rejects with StoreUnavailable; default: five seconds. */
  readonly timeoutMilliseconds?: number;
  /** Age of retained history, and the interval at which etcd is compacted; default: five minutes. */
  readonly historyMilliseconds?: number;
  readonly log?: Logger;
}

const TIMEOUT_MILLISECONDS = 5000;

/** Page size of lists. A longer list is combined from pages of one revision. */
const PAGE_ROWS = 2000;

/** Limit for keys; etcd itself has none. */
const MAX_KEY_BYTES = 65_536;

/**
 * The store on etcd v3, which several servers may share. History is limited by age only, because etcd does not count
 * bytes.
 */
export class EtcdStore implements Store {
  readonly #connection: Connection;
  readonly #keyspace: Keyspace;
  readonly #compactor: Compactor;
  readonly #options: Required<Pick<EtcdStoreOptions, 'clock' | 'log' | 'timeoutMilliseconds'>>;
  readonly #watches = new Set<EtcdWatch>();
  /** Requests that must end before the connection is closed. */
  readonly #inFlight = new ShortLivedMap<Promise<unknown>, true>();
  /** The request for the revision in flight, and the one to be sent after its answer. */
  #revisionRequest: Promise<number> | undefined;
  #nextRevisionRequest: Promise<number> | undefined;
  #closing: Promise<void> | undefined;

  private constructor(options: EtcdStoreOptions) {
    const { clock, log = silent, prefix = '', historyMilliseconds = HISTORY_MILLISECONDS } = options;
    const { timeoutMilliseconds = TIMEOUT_MILLISECONDS } = options;
    this.#options = { clock, log, timeoutMilliseconds };
    this.#connection = new Connection({ ...options, timeoutMilliseconds });
    this.#keyspace = new Keyspace(prefix);
    this.#compactor = new Compactor({
      connection: this.#connection,
      clock,
      log,
      intervalMilliseconds: historyMilliseconds,
      compact: (revision) => this.compact(revision),
    });
  }

  /** Opens the store. Rejects with StoreUnavailable when no endpoint answers. */
  static async open(options: EtcdStoreOptions): Promise<EtcdStore> {
    const store = new EtcdStore(options);
    try {
      await store.revision();
    } catch (error) {
      await store.close();
      throw error;
    }
    store.#compactor.start();
    return store;
  }

  /**
   * Requests the current revision. Calls during a request share the next one, whose answer is not older than any of the
   * calls; the time that they wait for it counts.
   */
  revision(): Promise<number> {
    if (!this.#revisionRequest) return this.#requestRevision();
    if (!this.#nextRevisionRequest) {
      const { clock, timeoutMilliseconds } = this.#options;
      const deadline = clock.now() + timeoutMilliseconds;
      const next = () => this.#requestRevision(Math.max(deadline - clock.now(), 0));
      this.#nextRevisionRequest = this.#revisionRequest.then(next, next);
    }
    return this.#nextRevisionRequest;
  }

  async get(key: string): Promise<Row | undefined> {
    const { kvs } = await this.#track(this.#range({ key: this.#keyspace.write(key) }));
    return kvs[0] && this.#row(kvs[0]);
  }

  async list(prefix: string, options: ListOptions = {}): Promise<Rows> {
    return this.#track(this.#list(prefix, options));
  }

  async commit(writes: readonly Write[], conditions: readonly Condition[] = [], origin?: Origin): Promise<number> {
    this.#checkOpen();
    checkWrites(writes, MAX_KEY_BYTES);
    if (writes.length === 0) return this.revision();
    return this.#track(this.#commit(writes, conditions, changesSomething(writes) ? origin : undefined));
  }

  watch(after: number, watcher: Watcher): Subscription {
    if (this.#closing) {
      queueMicrotask(() => watcher.closed(new StoreUnavailable('the store is closed')));
      return { stop() {} };
    }
    const watch = new EtcdWatch(
      {
        ...this.#options,
        connection: this.#connection,
        keyspace: this.#keyspace,
        check: async (revision) => {
          await this.#range({ key: ZERO, revision: Math.max(revision, 1) });
        },
      },
      after,
      watcher,
    );
    this.#watches.add(watch);
    watch
      .run()
      .catch((error) => this.#options.log.error('a watch ended with an error', { error }))
      .finally(() => this.#watches.delete(watch));
    return { stop: () => watch.stop() };
  }

  async compact(revision: number): Promise<void> {
    this.#checkOpen();
    try {
      await this.#track(this.#connection.call(methods.compact, { revision }));
    } catch (error) {
      if (!(error instanceof EtcdRejection) || error.revision !== 'compacted') throw await this.#explain(error);
    }
  }

  abandon(): void {
    this.#connection.close();
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    this.#compactor.stop();
    for (const watch of [...this.#watches]) watch.end(undefined);
    while (this.#inFlight.size > 0) await Promise.allSettled(this.#inFlight.keys());
    this.#connection.close();
  }

  async #list(prefix: string, options: ListOptions): Promise<Rows> {
    const { limit = Number.POSITIVE_INFINITY } = options;
    const kvs: KeyValue[] = [];
    let { key, rangeEnd } = this.#keyspace.range(prefix, options.after);
    // In etcd, revision 0 means the newest.
    let revision = options.revision === 0 ? 1 : options.revision;
    for (;;) {
      if (Buffer.compare(key, rangeEnd) >= 0 && !rangeEnd.equals(ZERO)) break;
      const page = Math.min(limit - kvs.length, PAGE_ROWS);
      const response = await this.#range({ key, rangeEnd, limit: page, revision });
      revision ??= response.header.revision;
      kvs.push(...response.kvs);
      const last = response.kvs.at(-1);
      if (!response.more || !last) return this.#rows(kvs, revision, false);
      if (kvs.length >= limit) return this.#rows(kvs, revision, true);
      key = Buffer.concat([last.key, ZERO]);
    }
    return this.#rows(kvs, revision ?? (await this.revision()), false);
  }

  #rows(kvs: readonly KeyValue[], revision: number, more: boolean): Rows {
    const rows = kvs.filter(({ key }) => this.#keyspace.holds(key)).map((kv) => this.#row(kv));
    return { rows, revision, more };
  }

  #row({ key, value, modRevision }: KeyValue): Row {
    return { key: this.#keyspace.read(key), value, revision: modRevision };
  }

  async #commit(
    writes: readonly Write[],
    conditions: readonly Condition[],
    origin: Origin | undefined,
  ): Promise<number> {
    const compare: Compare[] = [];
    const success: RequestOperation[] = [];
    const failure: RequestOperation[] = [];
    const expected: Condition[] = [];
    for (const { key, value, expect } of writes) {
      const written = this.#keyspace.write(key);
      success.push(value === null ? { deleteRange: { key: written } } : { put: { key: written, value } });
      if (expect !== undefined) expected.push({ key, revision: expect });
    }
    if (origin)
      success.push({
        put: { key: this.#keyspace.write(ORIGIN_KEY), value: encodeOrigin(origin, this.#options.clock.now()) },
      });
    expected.push(...conditions);
    for (const { key: name, revision } of expected) {
      const key = this.#keyspace.write(name);
      compare.push({ target: CompareTarget.MOD, key, modRevision: revision });
      failure.push({ range: { key, keysOnly: true } });
    }
    const { succeeded, header, responses } = await this.#connection.call(methods.txn, { compare, success, failure });
    if (succeeded) return header.revision;
    throw conflict(expected, responses);
  }

  async #range(request: RangeRequest, timeoutMs?: number): Promise<RangeResponse> {
    this.#checkOpen();
    try {
      return await this.#connection.read(methods.range, request, timeoutMs);
    } catch (error) {
      throw await this.#explain(error);
    }
  }

  /** Adds the bounds to an error: etcd says only that a revision is compacted or in the future. */
  async #explain(error: unknown): Promise<unknown> {
    if (!(error instanceof EtcdRejection)) return error;
    switch (error.revision) {
      case 'compacted':
        return new StoreCompacted(await this.#oldest());
      case 'future':
        return new StoreAhead(await this.revision());
      case undefined:
        return error;
    }
  }

  /** Finds the compacted revision, which etcd reveals only to a watch that starts too early. */
  async #oldest(): Promise<number> {
    const client = await this.#connection.ready();
    return new Promise((resolve, reject) => {
      const stream = client.stream(methods.watch, {
        message: ({ canceled, compactRevision }) => {
          if (!canceled) return;
          stream.cancel();
          resolve(compactRevision);
        },
        ended: (cause) => reject(new StoreUnavailable('etcd is not available', { cause })),
      });
      const create = { key: ZERO, rangeEnd: Buffer.alloc(0), startRevision: 1 };
      stream.send({ create: { ...create, progressNotify: false, previous: false, fragment: false } });
    });
  }

  #requestRevision(timeoutMs?: number): Promise<number> {
    this.#nextRevisionRequest = undefined;
    const answer = this.#track(this.#range({ key: ZERO }, timeoutMs));
    const request: Promise<number> = answer.then(({ header }) => header.revision);
    const done = () => {
      if (this.#revisionRequest === request) this.#revisionRequest = undefined;
    };
    request.then(done, done);
    this.#revisionRequest = request;
    return request;
  }

  #track<T>(work: Promise<T>): Promise<T> {
    const done = () => this.#inFlight.delete(work);
    this.#inFlight.set(work, true);
    work.then(done, done);
    return work;
  }

  #checkOpen(): void {
    if (this.#closing) throw new StoreUnavailable('the store is closed');
  }
}

/** Reports whether writes have an effect for certain: deleting a key that does not exist has none. */
function changesSomething(writes: readonly Write[]): boolean {
  return writes.some(({ value, expect = 0 }) => value !== null || expect > 0);
}

/** Finds the conflict; the responses are in the order of the expected revisions. */
function conflict(expected: readonly Condition[], responses: TxnResponse['responses']): StoreConflict {
  const found = responses.map(({ range }) => range?.kvs[0]?.modRevision ?? 0);
  const index = expected.findIndex(({ revision }, i) => revision !== found[i]);
  return new StoreConflict(expected[index]?.key ?? '', found[index] ?? 0);
}
