import {
  type ChannelCredentials,
  Client,
  type ClientDuplexStream,
  connectivityState,
  credentials,
  Metadata,
  type ServiceError,
  status,
} from '@grpc/grpc-js';
import type { MethodDefinition } from '@grpc/proto-loader';
import { type Clock, systemClock } from '../../base/clock.ts';
import { StoreFull, StoreUnavailable } from '../store.ts';
import { methods, type WatchRequest, type WatchResponse } from './protocol.ts';

export interface TlsOptions {
  /** PEM; default: the authorities that Node knows. */
  readonly ca?: Buffer | string;
  /** PEM: this program's own certificate, with its key. */
  readonly cert?: Buffer | string;
  readonly key?: Buffer | string;
}

export interface ConnectionOptions {
  /** `http://HOST:PORT` or `https://HOST:PORT`, each of them. */
  readonly endpoints: readonly string[];
  readonly tls?: TlsOptions;
  readonly clock: Clock;
  /** How long a request may take, the wait for a connection included. */
  readonly timeoutMilliseconds: number;
}

export type WatchStream = ClientDuplexStream<WatchRequest, WatchResponse>;

/** etcd answered, and said no in a way that belongs to the request. */
export class EtcdRefusal extends Error {
  override readonly name = 'EtcdRefusal';
  /** What the request asked for is gone, or has not happened; undefined: something else. */
  readonly revision: 'compacted' | 'future' | undefined;

  constructor(cause: ServiceError) {
    super(cause.details, { cause });
    if (cause.details.includes('required revision has been compacted')) this.revision = 'compacted';
    if (cause.details.includes('required revision is a future revision')) this.revision = 'future';
  }
}

/** gRPC keeps the process alive while it watches for a connection with an end in sight, counted in the machine's time. */
const A_WHILE = 3_600_000;

const CHANNEL_OPTIONS = {
  'grpc.max_receive_message_length': -1,
  'grpc.max_send_message_length': -1,
  'grpc.initial_reconnect_backoff_ms': 100,
  'grpc.max_reconnect_backoff_ms': 2000,
  'grpc.keepalive_time_ms': 30_000,
  'grpc.keepalive_timeout_ms': 10_000,
  // Neither is of use here, and both cost time with every call.
  'grpc.enable_retries': 0,
  'grpc.enable_channelz': 0,
};

/** Sends requests to whichever endpoint is there. Tries none twice: whether a write may be repeated is not ours to say. */
export class Connection {
  readonly #options: ConnectionOptions;
  readonly #clients: readonly Client[];
  /** The endpoint that is asked first. It stays until it fails. */
  #current = 0;
  /** Resolves when some endpoint is connected; shared by all who wait. */
  #connecting: Promise<void> | undefined;
  #closed = false;

  constructor(options: ConnectionOptions) {
    this.#options = options;
    if (options.endpoints.length === 0) throw new RangeError('no endpoint of etcd is given');
    this.#clients = options.endpoints.map((endpoint) => connect(endpoint, options.tls));
  }

  /** Rejects with StoreUnavailable when there is no answer in time, StoreFull, or EtcdRefusal. */
  call<Request, Response>(method: MethodDefinition<Request, Response>, request: Request): Promise<Response> {
    const { clock, timeoutMilliseconds } = this.#options;
    return new Promise((resolve, reject) => {
      let late = false;
      let cancel = () => {};
      const timer = clock.timer(timeoutMilliseconds, () => {
        late = true;
        reject(new StoreUnavailable(`etcd has not answered within ${timeoutMilliseconds} ms`));
        this.#avoid(this.#current);
        cancel();
      });
      const send = (client: Client) => {
        if (late) return;
        const call = client.makeUnaryRequest(
          method.path,
          method.requestSerialize,
          method.responseDeserialize,
          request,
          (error, response) => {
            timer.cancel();
            if (response) resolve(response);
            else reject(this.#failure(error as ServiceError, client));
          },
        );
        cancel = () => call.cancel();
      };
      const ready = this.#ready();
      if (ready) send(ready);
      else this.#connected().then(() => send(this.#ready() ?? this.#client()), reject);
    });
  }

  /** A stream for one watch. It ends with an error when the connection does. */
  async watch(): Promise<WatchStream> {
    await this.#connected();
    const { path, requestSerialize, responseDeserialize } = methods.watch;
    const metadata = new Metadata();
    // Without it, a member that is cut off from the others keeps the stream open and silent.
    metadata.set('hasleader', 'true');
    const client = this.#ready() ?? this.#client();
    return client.makeBidiStreamRequest(path, requestSerialize, responseDeserialize, metadata);
  }

  close(): void {
    this.#closed = true;
    for (const client of this.#clients) client.close();
  }

  /** The first connected client, from the current one on. */
  #ready(): Client | undefined {
    for (let i = 0; i < this.#clients.length; i++) {
      const index = (this.#current + i) % this.#clients.length;
      const client = this.#clients[index] as Client;
      if (!this.#closed && client.getChannel().getConnectivityState(false) === connectivityState.READY) {
        this.#current = index;
        return client;
      }
    }
    return undefined;
  }

  #client(): Client {
    return this.#clients[this.#current] as Client;
  }

  #connected(): Promise<void> {
    if (this.#ready()) return Promise.resolve();
    this.#connecting ??= this.#connect().finally(() => {
      this.#connecting = undefined;
    });
    return this.#connecting;
  }

  /** Resolves with the first endpoint that is connected. */
  #connect(): Promise<void> {
    return new Promise((resolve, reject) => {
      let over = false;
      const wait = (client: Client) => {
        if (over) return;
        over = this.#closed;
        if (over) return reject(new StoreUnavailable('the store is closed'));
        const channel = client.getChannel();
        const state = channel.getConnectivityState(true);
        over = state === connectivityState.READY;
        if (over) return resolve();
        channel.watchConnectivityState(state, systemClock.now() + A_WHILE, () => wait(client));
      };
      for (const client of this.#clients) wait(client);
    });
  }

  /** Goes to the next endpoint, unless somebody did already. */
  #avoid(index: number): void {
    if (index === this.#current) this.#current = (index + 1) % this.#clients.length;
  }

  #failure(error: ServiceError, client: Client): Error {
    switch (error.code) {
      case status.UNAVAILABLE:
      case status.CANCELLED:
      case status.DEADLINE_EXCEEDED:
      case status.UNKNOWN:
      case status.INTERNAL:
        this.#avoid(this.#clients.indexOf(client));
        return new StoreUnavailable(`etcd is not available: ${error.details}`, { cause: error });
      case status.RESOURCE_EXHAUSTED:
        if (error.details.includes('space exceeded')) return new StoreFull('etcd has no room left', { cause: error });
        return new StoreUnavailable(`etcd is overloaded: ${error.details}`, { cause: error });
      default:
        return new EtcdRefusal(error);
    }
  }
}

function connect(endpoint: string, tls: TlsOptions = {}): Client {
  const url = new URL(endpoint);
  return new Client(url.host, credentialsFor(url, tls), CHANNEL_OPTIONS);
}

function credentialsFor(url: URL, { ca, cert, key }: TlsOptions): ChannelCredentials {
  switch (url.protocol) {
    case 'http:':
      return credentials.createInsecure();
    case 'https:':
      return credentials.createSsl(bytes(ca), bytes(key), bytes(cert));
    default:
      throw new RangeError(`${url.href} is not an http or https address`);
  }
}

function bytes(pem: Buffer | string | undefined): Buffer | null {
  return pem === undefined ? null : Buffer.from(pem);
}
