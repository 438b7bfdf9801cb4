import { type Clock, sleep } from '../../base/time/clock.ts';
import type { Method } from '../../protocols/grpc/call.ts';
import { GrpcClient, type TlsOptions } from '../../protocols/grpc/client.ts';
import { type GrpcError, GrpcStatus } from '../../protocols/grpc/status.ts';
import { StoreFull, StoreUnavailable } from '../store.ts';
import { LostRequests, type WaitingRequest } from './lost-requests.ts';

export interface ConnectionOptions {
  /** URLs such as `http://HOST:PORT` or `https://HOST:PORT`. */
  readonly endpoints: readonly string[];
  readonly tls?: TlsOptions;
  readonly clock: Clock;
  /** Timeout of a request, including the wait for a connection. */
  readonly timeoutMilliseconds: number;
}

/** A request that etcd rejected. */
export class EtcdRejection extends Error {
  override readonly name = 'EtcdRejection';
  /** Set when the revision of the request was the reason. */
  readonly revision: 'compacted' | 'future' | undefined;

  constructor(cause: GrpcError) {
    super(cause.message, { cause });
    if (cause.message.includes('required revision has been compacted')) this.revision = 'compacted';
    if (cause.message.includes('required revision is a future revision')) this.revision = 'future';
  }
}

/** Initial delay between attempts to connect to an endpoint, doubled each time. */
const MIN_RETRY_MS = 100;
const MAX_RETRY_MS = 2000;

/**
 * Time without an answer to a request after which the connection is checked, and the time for the answer to the check. etcd
 * answers it while it has no leader or waits for its disk: when there is none, the machine is gone, and another endpoint can
 * take over long before the request times out.
 */
const CHECK_AFTER_MS = 1000;
const CHECK_TIMEOUT_MS = 1500;

/** Timeout of an attempt to connect: without one, the kernel repeats a lost packet after a minute and more. */
const CONNECT_TIMEOUT_MS = 3000;

/** Limit of etcd's own client: a page of large objects has no other limit. */
const MAX_MESSAGE_BYTES = 2 ** 31 - 1;

interface SentRequest extends WaitingRequest {
  readonly client: GrpcClient;
  readonly call: { cancel(): void };
}

/**
 * Sends requests to the first endpoint that accepts a connection, until it fails. Only reads are repeated: only the caller
 * knows whether a write may be.
 */
export class Connection {
  readonly #endpoints: readonly URL[];
  /** Connections that may be open: an older one may still have a watch. */
  readonly #clients = new Set<GrpcClient>();
  #client: GrpcClient | undefined;
  readonly #lost = new WeakMap<GrpcClient, LostRequests>();
  /** The endpoint of the last connection. After it has failed, others are tried first. */
  #last: URL | undefined;
  #connecting: Promise<GrpcClient> | undefined;
  /** Cancels pending attempts to connect. */
  #attempts: AbortController | undefined;
  #isClosed = false;
  /** The error of the last attempt to connect. */
  #connectError: Error | undefined;

  constructor(private readonly options: ConnectionOptions) {
    if (options.endpoints.length === 0) throw new RangeError('etcd needs at least one endpoint');
    this.#endpoints = options.endpoints.map(checkedUrl);
  }

  /** Sends a request. Rejects with StoreUnavailable after the timeout, StoreFull, or EtcdRejection. */
  call<Request, Response>(method: Method<Request, Response>, request: Request): Promise<Response> {
    return this.#send(method, request, { isRepeated: false, timeoutMs: this.options.timeoutMilliseconds });
  }

  /** Sends a request that changes nothing: while etcd is not available, it is repeated until the timeout. */
  read<Request, Response>(
    method: Method<Request, Response>,
    request: Request,
    timeoutMs = this.options.timeoutMilliseconds,
  ): Promise<Response> {
    return this.#send(method, request, { isRepeated: true, timeoutMs });
  }

  #send<Request, Response>(
    method: Method<Request, Response>,
    request: Request,
    { isRepeated, timeoutMs }: { readonly isRepeated: boolean; readonly timeoutMs: number },
  ): Promise<Response> {
    const { clock } = this.options;
    return new Promise((resolve, reject) => {
      let isLate = false;
      let sent: SentRequest | undefined;
      let failure: Error | undefined;
      const giveUp = () => {
        isLate = true;
        if (sent) this.#drop(sent);
        if (sent) this.#avoid(sent.client);
        reject(this.#timeoutError(sent ? undefined : (this.#connectError ?? failure)));
      };
      const checkAfter = Math.min(CHECK_AFTER_MS, timeoutMs);
      let timer = clock.timer(checkAfter, () => {
        timer = clock.timer(timeoutMs - checkAfter, giveUp);
        if (sent) this.#check(sent);
      });
      const fail = (error: Error) => {
        timer.cancel();
        reject(error);
      };
      const failOrRepeat = (error: Error) => {
        sent = undefined;
        failure = error;
        if (isRepeated && !this.#isClosed) clock.timer(MIN_RETRY_MS, begin);
        else fail(error);
      };
      const send = (client: GrpcClient) => {
        if (isLate) return;
        const lost = () => {
          sent?.call.cancel();
          failOrRepeat(new StoreUnavailable('etcd lost a request when another member became its leader'));
        };
        const lostRequests = this.#lostRequests(client);
        const call = client.unary(method, request, (error, response) => {
          if (sent) lostRequests.remove(sent);
          lostRequests.saw(response);
          if (error) {
            const explained = this.#failure(error, client);
            if (error.code === GrpcStatus.UNAVAILABLE) failOrRepeat(explained);
            else fail(explained);
            return;
          }
          timer.cancel();
          resolve(response as Response);
        });
        sent = { client, call, lost, term: lostRequests.term };
      };
      const begin = () => {
        if (isLate) return;
        if (this.#client?.isOpen) send(this.#client);
        else this.ready().then(send, fail);
      };
      begin();
    });
  }

  /** Waits for an open connection. Rejects when this object is closed. */
  async ready(): Promise<GrpcClient> {
    if (this.#client?.isOpen) return this.#client;
    if (this.#isClosed) throw closed();
    this.#connecting ??= this.#connect().finally(() => {
      this.#connecting = undefined;
    });
    return this.#connecting;
  }

  close(): void {
    this.#isClosed = true;
    this.#attempts?.abort(closed());
    for (const client of this.#clients) client.close();
  }

  /** Connects to all endpoints at once, and keeps the first that answers. */
  async #connect(): Promise<GrpcClient> {
    const attempts = new AbortController();
    this.#attempts = attempts;
    const client = await Promise.race(this.#endpoints.map((url) => this.#connectTo(url, attempts)));
    for (const older of this.#clients) if (older.isClosed) this.#clients.delete(older);
    this.#clients.add(client);
    if (this.#isClosed) client.close();
    this.#client = client;
    return client;
  }

  /** Retries until it succeeds, and then cancels the other attempts; rejects when cancelled itself. */
  async #connectTo(url: URL, attempts: AbortController): Promise<GrpcClient> {
    const { clock } = this.options;
    const { signal } = attempts;
    let pause = MIN_RETRY_MS;
    if (url === this.#last) await sleep(clock, pause, signal);
    for (;;) {
      try {
        const client = await this.#attempt(url, signal);
        if (signal.aborted) client.close();
        signal.throwIfAborted();
        attempts.abort();
        this.#last = url;
        return client;
      } catch (error) {
        signal.throwIfAborted();
        this.#connectError = error as Error;
        await sleep(clock, pause, signal);
        pause = Math.min(pause * 2, MAX_RETRY_MS);
      }
    }
  }

  /** Connects once. */
  async #attempt(url: URL, signal: AbortSignal): Promise<GrpcClient> {
    const { tls, clock } = this.options;
    const late = new AbortController();
    const timer = clock.timer(CONNECT_TIMEOUT_MS, () =>
      late.abort(new Error(`${url.host} did not answer within ${CONNECT_TIMEOUT_MS} ms`)),
    );
    try {
      const either = AbortSignal.any([signal, late.signal]);
      return await GrpcClient.connect({ url, clock, signal: either, maxMessageBytes: MAX_MESSAGE_BYTES, tls });
    } finally {
      timer.cancel();
    }
  }

  /** Checks the connection of a request that waits, and whether the member still has the request. */
  #check(sent: SentRequest): void {
    sent.client.probe(CHECK_TIMEOUT_MS);
    this.#lostRequests(sent.client).add(sent);
  }

  #drop(sent: SentRequest): void {
    sent.call.cancel();
    this.#lostRequests(sent.client).remove(sent);
  }

  #lostRequests(client: GrpcClient): LostRequests {
    const known = this.#lost.get(client);
    if (known) return known;
    const created = new LostRequests(client, this.options.clock);
    this.#lost.set(client, created);
    return created;
  }

  /** After a failure, checks whether the connection is alive, and uses another endpoint if there is one. */
  #avoid(client: GrpcClient): void {
    client.probe();
    if (this.#endpoints.length > 1) client.retire();
  }

  #timeoutError(cause: Error | undefined): StoreUnavailable {
    const text = `etcd did not answer within ${this.options.timeoutMilliseconds} ms`;
    return cause ? new StoreUnavailable(`${text}: ${cause.message}`, { cause }) : new StoreUnavailable(text);
  }

  #failure(error: GrpcError, client: GrpcClient): Error {
    switch (error.code) {
      case GrpcStatus.UNAVAILABLE:
      case GrpcStatus.CANCELLED:
      case GrpcStatus.DEADLINE_EXCEEDED:
      case GrpcStatus.UNKNOWN:
      case GrpcStatus.INTERNAL:
        this.#avoid(client);
        return new StoreUnavailable(`etcd is not available: ${error.message}`, { cause: error });
      case GrpcStatus.RESOURCE_EXHAUSTED:
        if (error.message.includes('space exceeded')) return new StoreFull('etcd has no space left', { cause: error });
        return new StoreUnavailable(`etcd is overloaded: ${error.message}`, { cause: error });
      default:
        return new EtcdRejection(error);
    }
  }
}

function closed(): StoreUnavailable {
  return new StoreUnavailable('the store is closed');
}

function checkedUrl(endpoint: string): URL {
  const url = new URL(endpoint);
  if (url.protocol !== 'http:' && url.protocol !== 'https:') {
    throw new RangeError(`${url.href} is not an http or https URL`);
  }
  return url;
}
