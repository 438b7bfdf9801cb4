/** Answers queries on TCP connections. A client may send several without waiting; responses come when they are ready. */
import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { TurnBudget } from '../../../base/event-loop/turn-budget.ts';
import { type Listening, stopAccepting } from '../../../base/sockets/listening.ts';
import type { Clock, Timer } from '../../../base/time/clock.ts';
import { HEADER_BYTES } from '../../../protocols/dns-message/codes.ts';
import { framed, MessageFrames } from '../../../protocols/dns-message/frames.ts';
import type { ListenOptions } from './udp.ts';

const MAX_CONNECTIONS = 512;
/** Limit per client, so that one client cannot take all connections. */
const MAX_CONNECTIONS_PER_CLIENT = 64;
const IDLE_TIMEOUT_MS = 10_000;
/** Limits per connection, which is read no further until some queries are answered. */
const MAX_QUERIES_IN_PROGRESS = 64;
const MAX_UNSENT_BYTES = 256 * 1024;

export interface ListenTcpOptions extends ListenOptions {
  readonly clock: Clock;
}

/** Rejects when the port cannot be used. */
export async function listenTcp(options: ListenTcpOptions): Promise<Listening> {
  const { on, log } = options;
  const open = new Map<Socket, string>();
  const budget = new TurnBudget(options.clock);
  const server = createServer({ noDelay: true }, (socket) => {
    const client = socket.remoteAddress ?? '';
    const ofClient = [...open.values()].filter((each) => each === client).length;
    if (open.size >= MAX_CONNECTIONS || ofClient >= MAX_CONNECTIONS_PER_CLIENT) {
      socket.destroy();
      return;
    }
    open.set(socket, client);
    socket.on('close', () => open.delete(socket));
    new Connection(socket, client, { ...options, budget });
  });
  if ('handle' in on) server.listen(on.handle);
  else server.listen({ host: on.address, port: on.port, exclusive: true });
  await once(server, 'listening');
  server.on('error', (error) => log.warn('the listener for DNS queries failed', { error: String(error) }));
  return {
    port: (server.address() as AddressInfo).port,
    handle: server,
    release: () => stopAccepting(server),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        for (const socket of open.keys()) socket.destroy();
      }),
  };
}

interface ConnectionOptions extends ListenTcpOptions {
  /** Budget of all connections: one segment may have thousands of queries, and each a response of 64 KB. */
  readonly budget: TurnBudget;
}

class Connection {
  readonly #frames = new MessageFrames();
  readonly #waiting: Buffer[] = [];
  #inProgress = 0;
  #isWaitingForTurn = false;
  #timer: Timer;

  constructor(
    private readonly socket: Socket,
    private readonly client: string,
    private readonly options: ConnectionOptions,
  ) {
    this.#timer = this.#idleTimer();
    socket.on('error', () => socket.destroy());
    socket.on('close', () => this.#timer.cancel());
    socket.on('drain', () => this.#proceed());
    socket.on('data', (data) => {
      for (const message of this.#frames.push(data)) this.#waiting.push(message);
      this.#proceed();
    });
  }

  #idleTimer(): Timer {
    return this.options.clock.timer(IDLE_TIMEOUT_MS, () => this.socket.destroy());
  }

  /** Takes waiting queries, as far as the limits and this turn of the event loop allow. */
  #proceed(): void {
    while (this.#waiting.length > 0 && this.#canTake()) {
      if (this.options.budget.isSpent()) {
        this.#proceedLater();
        break;
      }
      this.#take(this.#waiting.shift()!);
    }
    if (this.#waiting.length > 0) this.socket.pause();
    else this.socket.resume();
  }

  #proceedLater(): void {
    if (this.#isWaitingForTurn) return;
    this.#isWaitingForTurn = true;
    void this.options.budget.nextTurn().then(() => {
      this.#isWaitingForTurn = false;
      this.#proceed();
    });
  }

  #canTake(): boolean {
    return (
      !this.socket.destroyed &&
      this.#inProgress < MAX_QUERIES_IN_PROGRESS &&
      this.socket.writableLength < MAX_UNSENT_BYTES
    );
  }

  /** Takes a query. Only whole queries keep a connection open. */
  #take(message: Buffer): void {
    this.#timer.cancel();
    this.#timer = this.#idleTimer();
    const response = this.options.resolver.respond(message, this.client, 'tcp');
    if (!(response instanceof Promise)) {
      this.#reply(response);
      return;
    }
    this.#inProgress++;
    response
      .catch((error: unknown) => {
        this.options.log.error('a DNS query failed', { error });
        return undefined;
      })
      .then((bytes) => {
        this.#inProgress--;
        this.#reply(bytes);
        this.#proceed();
      });
  }

  /** Sends a response. A message that cannot be read ends the connection: the rest could be anything. */
  #reply(response: Buffer | undefined): void {
    if (this.socket.destroyed) return;
    if (!response) this.socket.destroy();
    else if (response.length === HEADER_BYTES) this.socket.end(framed(response));
    else this.socket.write(framed(response));
  }
}
