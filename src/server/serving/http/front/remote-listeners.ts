/** The front thread as seen by the API thread: listeners that behave as if they were in this thread. */
import type { AddressInfo } from 'node:net';
import { ShortLivedMap } from '../../../../base/collections/short-lived-map.ts';
import type { EventBytes, Peer } from '../../exchange.ts';
import { connectionMetrics } from '../listen/connections.ts';
import type { Listeners, ListenersOptions } from '../listen/listeners.ts';
import { BatchedPort, type Port, type TakeBytes } from './batched-port.ts';
import type { ApiMessage, FrontMessage } from './messages.ts';
import { type FrontConnection, RemoteExchange } from './remote-exchange.ts';

/** `port` leads to a thread that runs `serveFront`. */
export function remoteListeners(port: Port, options: ListenersOptions): Listeners {
  return new RemoteListeners(port, options);
}

type EventsMessage = Extract<ApiMessage, readonly ['events', ...unknown[]]>;

interface Command {
  resolve(address: AddressInfo | undefined): void;
  reject(error: Error): void;
}

class RemoteListeners implements Listeners, FrontConnection {
  readonly port: BatchedPort<ApiMessage, FrontMessage>;
  readonly #options: ListenersOptions;
  readonly #peers = new Map<number, Peer>();
  readonly #exchanges = new ShortLivedMap<number, RemoteExchange>();
  readonly #commands = new Map<number, Command>();
  readonly #turns = new Map<number, () => void>();
  #lastId = 0;
  #counts = { open: 0, refused: 0 };
  /** The last events that were sent: they may also be for further watches, including some with other selectors. */
  #lastBytes: Buffer | undefined;
  #lastEvents: EventsMessage | undefined;

  constructor(port: Port, options: ListenersOptions) {
    this.#options = options;
    this.port = new BatchedPort(port);
    this.port.onMessage((message, take) => this.#handle(message, take));
    this.port.send(['open', options.tls, options.limits, options.pace !== undefined]);
  }

  async listen(port: number, host: string): Promise<AddressInfo> {
    return (await this.#command((id) => ['listen', id, port, host, false]))!;
  }

  async listenInsecure(port: number, host: string): Promise<AddressInfo> {
    return (await this.#command((id) => ['listen', id, port, host, true]))!;
  }

  renew(tls: Parameters<Listeners['renew']>[0]): void {
    this.port.send(['renew', tls]);
  }

  async close(): Promise<void> {
    await this.#command((id) => ['close', id]);
  }

  nextTurn(task: () => void): void {
    const request = ++this.#lastId;
    this.#turns.set(request, task);
    this.port.send(['turn', request]);
  }

  lines(): Iterable<string> {
    return connectionMetrics(this.#counts);
  }

  events(id: number, batch: EventBytes): void {
    const { lastUnsent } = this.port;
    const bytes = batch.json();
    if (this.#lastBytes === bytes && lastUnsent !== undefined && lastUnsent === this.#lastEvents) {
      lastUnsent[1].push(id);
      return;
    }
    const message: EventsMessage = ['events', [id], batch.events.map((event) => event.json().length)];
    this.#lastBytes = bytes;
    this.#lastEvents = message;
    this.port.send(message, bytes);
  }

  closed(id: number): void {
    this.#exchanges.delete(id);
  }

  #command(message: (id: number) => ApiMessage): Promise<AddressInfo | undefined> {
    const id = ++this.#lastId;
    return new Promise((resolve, reject) => {
      this.#commands.set(id, { resolve, reject });
      this.port.send(message(id));
    });
  }

  #handle(message: FrontMessage, take: TakeBytes): void {
    switch (message[0]) {
      case 'request': {
        const [, id, connection, head, bytes] = message;
        const body = head.body === 'included' ? take(bytes) : undefined;
        const exchange = new RemoteExchange({ id, head, body }, this.#peers.get(connection)!, this);
        this.#exchanges.set(id, exchange);
        this.#options.serve(exchange);
        return;
      }
      case 'connected': {
        const [, connection, address, certificate, isUnsecured] = message;
        this.#peers.set(connection, { address, certificate, isUnsecured });
        return;
      }
      case 'ended':
        for (const id of message[1]) this.#exchanges.get(id)?.disconnected();
        for (const id of message[2]) this.#peers.delete(id);
        return;
      case 'turned': {
        const task = this.#turns.get(message[1]);
        this.#turns.delete(message[1]);
        task?.();
        return;
      }
      case 'pace':
        void this.#pace(message[1], message[2]);
        return;
      case 'counts':
        this.#counts = { open: message[1], refused: message[2] };
        return;
      case 'blocked': {
        const [, work, milliseconds, fields] = message;
        this.#options.onBlocked?.({ thread: 'sockets', work, milliseconds, fields });
        return;
      }
      case 'log':
        this.#options.log[message[1]](message[2], message[3]);
        return;
      case 'done':
        this.#settle(message[1]).resolve(message[2]);
        return;
      case 'failed':
        this.#settle(message[1]).reject(Object.assign(new Error(message[2]), { code: message[3] }));
        return;
      default: {
        // The bytes must always be taken: those of the next message follow.
        const body = message[0] === 'body' || message[0] === 'data' ? take(message[2]) : undefined;
        this.#exchanges.get(message[1])?.handle(message, body);
      }
    }
  }

  #settle(id: number): Command {
    const command = this.#commands.get(id);
    if (!command) throw new Error(`the front thread answered an unknown command: ${id}`);
    this.#commands.delete(id);
    return command;
  }

  async #pace(request: number, address: string): Promise<void> {
    await this.#options.pace?.(address);
    this.port.send(['proceed', request]);
  }
}
