import { pathToFileURL } from 'node:url';
import type { Clock } from '../../../base/time/clock.ts';
import type { CallHandler, Method } from '../../../protocols/grpc/call.ts';
import { GrpcClient, type GrpcStream } from '../../../protocols/grpc/client.ts';
import { GrpcError, GrpcStatus } from '../../../protocols/grpc/status.ts';
import { RuntimeError } from '../../runtime/errors.ts';
import { runtimeError } from './errors.ts';

export interface ConnectionOptions {
  /** Path of the unix socket. */
  readonly socket: string;
  readonly clock: Clock;
  /** Starts the program that should listen on the socket. Called before another attempt when nothing does. */
  readonly revive?: () => Promise<void>;
}

const CALL_TIMEOUT_MS = 2 * 60_000;
const CONNECT_TIMEOUT_MS = 10_000;
/** Limit of kubelet. */
const MAX_MESSAGE_BYTES = 16 * 1024 * 1024;

/** Makes calls to a runtime over one connection, which is opened on demand and again after it has ended. */
export class Connection {
  readonly #closing = new AbortController();
  #client: GrpcClient | undefined;
  #connecting: Promise<GrpcClient> | undefined;

  constructor(private readonly options: ConnectionOptions) {}

  /** Rejects with RuntimeError. A call that takes too long is cancelled for the runtime, too. */
  async call<In, Out>(method: Method<In, Out>, request: In, timeoutMs = CALL_TIMEOUT_MS): Promise<Out> {
    const client = await this.#ready();
    return new Promise((resolve, reject) => {
      const call = client.unary(method, request, (error, response) => {
        timer.cancel();
        if (error) reject(runtimeError(error));
        else resolve(response as Out);
      });
      const timer = this.options.clock.timer(timeoutMs, () => {
        call.cancel();
        client.probe();
        reject(new RuntimeError('DeadlineExceeded', `${nameOf(method.path)} did not finish within ${timeoutMs} ms`));
      });
    });
  }

  /** Follows a stream of responses. */
  async follow<In, Out>(method: Method<In, Out>, request: In, handler: CallHandler<Out>): Promise<{ cancel(): void }> {
    return (await this.#ready()).serverStream(method, request, handler);
  }

  async stream<In, Out>(method: Method<In, Out>, handler: CallHandler<Out>): Promise<GrpcStream<In>> {
    return (await this.#ready()).stream(method, handler);
  }

  close(): void {
    this.#closing.abort(closed());
    this.#client?.close();
  }

  async #ready(): Promise<GrpcClient> {
    if (this.#closing.signal.aborted) throw closed();
    if (this.#client?.isOpen) return this.#client;
    this.#connecting ??= this.#connect().finally(() => {
      this.#connecting = undefined;
    });
    return this.#connecting;
  }

  async #connect(): Promise<GrpcClient> {
    const { revive } = this.options;
    try {
      this.#client = await this.#attempt();
    } catch (error) {
      if (this.#closing.signal.aborted) throw closed();
      if (!revive) throw unavailable(this.options.socket, error);
      await revive();
      this.#client = await this.#attempt().catch((again) => {
        throw unavailable(this.options.socket, again);
      });
    }
    return this.#client;
  }

  async #attempt(): Promise<GrpcClient> {
    const { socket, clock } = this.options;
    const attempt = new AbortController();
    const giveUp = () => attempt.abort(new GrpcError(GrpcStatus.UNAVAILABLE, 'the runtime does not answer'));
    const timer = clock.timer(CONNECT_TIMEOUT_MS, giveUp);
    this.#closing.signal.addEventListener('abort', giveUp, { once: true });
    try {
      const url = new URL(pathToFileURL(socket).href.replace(/^file:/, 'unix:'));
      return await GrpcClient.connect({ url, clock, signal: attempt.signal, maxMessageBytes: MAX_MESSAGE_BYTES });
    } finally {
      timer.cancel();
      this.#closing.signal.removeEventListener('abort', giveUp);
    }
  }
}

function nameOf(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1);
}

function unavailable(socket: string, cause: unknown): RuntimeError {
  const reason = (cause as Error).message;
  return new RuntimeError('Unavailable', `cannot connect to the runtime at ${socket}: ${reason}`, { cause });
}

function closed(): RuntimeError {
  return new RuntimeError('Unavailable', 'the connection to the runtime was closed');
}
