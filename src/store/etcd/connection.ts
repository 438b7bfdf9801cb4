import { type Clock, sleep } from '../../base/clock.ts';
import type { Method } from '../../base/grpc/call.ts';
import { GrpcClient, type TlsOptions } from '../../base/grpc/client.ts';
import { type GrpcError, GrpcStatus } from '../../base/grpc/status.ts';
import { StoreFull, StoreUnavailable } from '../store.ts';

export interface ConnectionOptions {
  /** `http://HOST:PORT` or `https://HOST:PORT`, each of them. */
  readonly endpoints: readonly string[];
  readonly tls?: TlsOptions;
  readonly clock: Clock;
  /** How long a request may take, the wait for a connection included. */
  readonly timeoutMilliseconds: number;
}

/** etcd answered, and said no in a way that belongs to the request. */
export class EtcdRefusal extends Error {
  override readonly name = 'EtcdRefusal';
  /** What the request asked for is gone, or has not happened; undefined: something else. */
  readonly revision: 'compacted' | 'future' | undefined;

  constructor(cause: GrpcError) {
    super(cause.message, { cause });
    if (cause.message.includes('required revision has been compacted')) this.revision = 'compacted';
    if (cause.message.includes('required revision is a future revision')) this.revision = 'future';
  }
}

/** Between attempts to connect to an endpoint, doubled each time. */
const SHORTEST_PAUSE = 100;
const LONGEST_PAUSE = 2000;

/**
 * Sends requests to whichever endpoint is there: the first that can be connected to, until it fails. Tries none twice:
 * whether a write may be repeated is not ours to say.
 */
export class Connection {
  readonly #options: ConnectionOptions;
  readonly #endpoints: readonly URL[];
  /** Every connection that may be alive: an older one may still have a watch. */
  readonly #clients = new Set<GrpcClient>();
  #client: GrpcClient | undefined;
  /** The endpoint that was connected last. Others go first when it has failed. */
  #last: URL | undefined;
  #connecting: Promise<GrpcClient> | undefined;
  /** Ends the attempts to connect. */
  #attempts: AbortController | undefined;
  #isClosed = false;
  /** Why the last attempt to connect failed. */
  #obstacle: Error | undefined;

  constructor(options: ConnectionOptions) {
    this.#options = options;
    if (options.endpoints.length === 0) throw new RangeError('no endpoint of etcd is given');
    this.#endpoints = options.endpoints.map(checkedUrl);
  }

  /** Rejects with StoreUnavailable when there is no answer in time, StoreFull, or EtcdRefusal. */
  call<Request, Response>(method: Method<Request, Response>, request: Request): Promise<Response> {
    const { clock, timeoutMilliseconds } = this.#options;
    return new Promise((resolve, reject) => {
      let late = false;
      let sent: { readonly client: GrpcClient; readonly call: { cancel(): void } } | undefined;
      const timer = clock.timer(timeoutMilliseconds, () => {
        late = true;
        sent?.call.cancel();
        if (sent) this.#avoid(sent.client);
        reject(this.#tooLate(sent !== undefined));
      });
      const send = (client: GrpcClient) => {
        if (late) return;
        const call = client.unary(method, request, (error, response) => {
          timer.cancel();
          if (error) reject(this.#failure(error, client));
          else resolve(response as Response);
        });
        sent = { client, call };
      };
      if (this.#client?.isOpen) {
        send(this.#client);
        return;
      }
      this.ready().then(send, (error) => {
        timer.cancel();
        reject(error);
      });
    });
  }

  /** A connection that takes calls. Waits until there is one; rejects when this is closed. */
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

  /** Tries all endpoints at once, and stays with the first that answers. */
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

  /** Tries until it succeeds, and then ends the other attempts; rejects when it is ended itself. */
  async #connectTo(url: URL, attempts: AbortController): Promise<GrpcClient> {
    const { tls, clock } = this.#options;
    const { signal } = attempts;
    let pause = SHORTEST_PAUSE;
    if (url === this.#last) await sleep(clock, pause, signal);
    for (;;) {
      try {
        const client = await GrpcClient.connect({ url, clock, signal, ...(tls && { tls }) });
        if (signal.aborted) client.close();
        signal.throwIfAborted();
        attempts.abort();
        this.#last = url;
        return client;
      } catch (error) {
        signal.throwIfAborted();
        this.#obstacle = error as Error;
        await sleep(clock, pause, signal);
        pause = Math.min(pause * 2, LONGEST_PAUSE);
      }
    }
  }

  /** Has failed: sees whether it is still there, and goes elsewhere if there is somewhere to go. */
  #avoid(client: GrpcClient): void {
    client.probe();
    if (this.#endpoints.length > 1) client.retire();
  }

  #tooLate(sent: boolean): StoreUnavailable {
    const text = `etcd has not answered within ${this.#options.timeoutMilliseconds} ms`;
    if (sent || !this.#obstacle) return new StoreUnavailable(text);
    return new StoreUnavailable(`${text}: ${this.#obstacle.message}`, { cause: this.#obstacle });
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
        if (error.message.includes('space exceeded')) return new StoreFull('etcd has no room left', { cause: error });
        return new StoreUnavailable(`etcd is overloaded: ${error.message}`, { cause: error });
      default:
        return new EtcdRefusal(error);
    }
  }
}

function closed(): StoreUnavailable {
  return new StoreUnavailable('the store is closed');
}

function checkedUrl(endpoint: string): URL {
  const url = new URL(endpoint);
  if (url.protocol !== 'http:' && url.protocol !== 'https:') {
    throw new RangeError(`${url.href} is not an http or https address`);
  }
  return url;
}
