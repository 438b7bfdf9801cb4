import { once } from 'node:events';
import { connect as connectPlain, isIP, type Socket } from 'node:net';
import { connect as connectTls, type TLSSocket } from 'node:tls';
import { connectionProblem } from '../../base/sockets/connection-problem.ts';
import type { Clock } from '../../base/time/clock.ts';
import { Call, type CallHandler, type Method, prefixed } from './call.ts';
import { Flag, FrameType, frame } from './frames.ts';
import { encodeHeaders } from './hpack.ts';
import { Session } from './session.ts';
import { GrpcError, GrpcStatus } from './status.ts';

export interface TlsOptions {
  /** Certificate authorities as PEM; default: those that Node trusts. */
  readonly ca?: Buffer | string;
  /** Client certificate and key, as PEM. */
  readonly cert?: Buffer | string;
  readonly key?: Buffer | string;
}

export interface GrpcClientOptions {
  /** `http://HOST:PORT`, `https://HOST:PORT`, or `unix:///PATH`. */
  readonly url: URL;
  readonly tls?: TlsOptions;
  readonly clock: Clock;
  /** Cancels connecting; ignored once connected. */
  readonly signal: AbortSignal;
  /** Limit for messages from the server; a larger one fails its call. Default: 4 MiB. */
  readonly maxMessageBytes?: number | undefined;
}

export interface GrpcStream<Request> {
  send(request: Request): void;
  /** Cancels the call. The handler is not called afterwards. */
  cancel(): void;
}

type HeadersSource = Pick<Method<never, never>, 'path' | 'metadata'>;

/** Makes calls over one connection. The client ends with its connection: callers connect again. */
export class GrpcClient {
  readonly #session: Session;
  readonly #url: URL;
  /** Header frames by method, since the headers of a method are always the same. */
  readonly #headers = new WeakMap<HeadersSource, Buffer>();
  readonly #maxMessageBytes: number | undefined;

  private constructor(session: Session, { url, maxMessageBytes }: GrpcClientOptions) {
    this.#session = session;
    this.#url = url;
    this.#maxMessageBytes = maxMessageBytes;
  }

  /** Resolves when the server has answered; rejects with GrpcError, or with the reason of the signal. */
  static async connect(options: GrpcClientOptions): Promise<GrpcClient> {
    const { url, tls, clock, signal } = options;
    const socket = socketTo(url, tls);
    const giveUp = () => socket.destroy();
    // Errors are handled where they are awaited; an error in between ends the socket as well.
    socket.on('error', () => {});
    signal.addEventListener('abort', giveUp, { once: true });
    try {
      signal.throwIfAborted();
      await once(socket, url.protocol === 'https:' ? 'secureConnect' : 'connect', { signal });
      if (url.protocol === 'https:' && (socket as TLSSocket).alpnProtocol !== 'h2') {
        throw new Error('the server does not offer HTTP/2');
      }
      const session = new Session(socket, { clock });
      await session.ready;
      signal.throwIfAborted();
      return new GrpcClient(session, options);
    } catch (error) {
      socket.destroy();
      signal.throwIfAborted();
      if (error instanceof GrpcError) throw error;
      throw new GrpcError(GrpcStatus.UNAVAILABLE, connectionProblem(error), { cause: error });
    } finally {
      signal.removeEventListener('abort', giveUp);
    }
  }

  /** True while it accepts calls. */
  get isOpen(): boolean {
    return this.#session.isOpen;
  }

  get isClosed(): boolean {
    return this.#session.isClosed;
  }

  /** `done` is called once, unless the call is cancelled before. */
  unary<Request, Response>(
    method: Method<Request, Response>,
    request: Request,
    done: (error: GrpcError | undefined, response: Response | undefined) => void,
  ): { cancel(): void } {
    let answer: Response | undefined;
    return this.serverStream(method, request, {
      message: (response) => {
        answer = response;
      },
      ended: (error) => {
        if (error) done(error, undefined);
        else if (answer === undefined) done(new GrpcError(GrpcStatus.INTERNAL, 'the answer is empty'), undefined);
        else done(undefined, answer);
      },
    });
  }

  /** Opens a bidirectional stream, which lasts until the server ends it or the caller cancels. */
  stream<Request, Response>(method: Method<Request, Response>, handler: CallHandler<Response>): GrpcStream<Request> {
    const call = new Call(method, handler, this.#maxMessageBytes);
    const stream = this.#session.open(this.#headersOf(method), call);
    call.stream = stream;
    return {
      send: (request) => stream.send(prefixed(method.encode(request)), false),
      cancel: () => call.cancel(),
    };
  }

  /** Sends one request, and receives messages until the server ends the stream or the caller cancels. */
  serverStream<Request, Response>(
    method: Method<Request, Response>,
    request: Request,
    handler: CallHandler<Response>,
  ): { cancel(): void } {
    const call = new Call(method, handler, this.#maxMessageBytes);
    call.stream = this.#session.open(this.#headersOf(method), call);
    call.stream.send(prefixed(method.encode(request)), true);
    return call;
  }

  /** Pings the server, and closes the connection when there is no answer. */
  probe(answerMilliseconds?: number): void {
    this.#session.probe(answerMilliseconds);
  }

  /** Accepts no more calls, and closes after the last one. */
  retire(): void {
    this.#session.retire();
  }

  close(): void {
    this.#session.close();
  }

  #headersOf(method: HeadersSource): Buffer {
    let headers = this.#headers.get(method);
    if (!headers) {
      const { path, metadata = {} } = method;
      const block = encodeHeaders([
        [':method', 'POST'],
        [':scheme', this.#url.protocol === 'https:' ? 'https' : 'http'],
        [':path', path],
        [':authority', this.#url.host || 'localhost'],
        ['content-type', 'application/grpc'],
        ['te', 'trailers'],
        ...Object.entries(metadata),
      ]);
      headers = frame({ type: FrameType.HEADERS, flags: Flag.END_HEADERS }, block);
      this.#headers.set(method, headers);
    }
    return headers;
  }
}

function socketTo(url: URL, tls: TlsOptions = {}): Socket {
  const host = url.hostname.replace(/^\[(.*)\]$/, '$1');
  switch (url.protocol) {
    case 'http:':
      return connectPlain({ host, port: Number(url.port || 80), noDelay: true });
    case 'https:': {
      const name = isIP(host) ? {} : { servername: host };
      const socket = connectTls({ ...tls, ...name, host, port: Number(url.port || 443), ALPNProtocols: ['h2'] });
      return socket.setNoDelay(true);
    }
    case 'unix:':
      return connectPlain({ path: decodeURIComponent(url.pathname) });
    default:
      throw new RangeError(`${url.href} is not an http, https or unix address`);
  }
}
