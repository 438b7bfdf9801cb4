/** What the pipeline sees of the thread with the sockets: listeners, as if they were here. */
import type { AddressInfo } from 'node:net';
import { PassingMap } from '../../../base/passing-map.ts';
import { connectionLines } from '../listen/connections.ts';
import type { Listeners, ListenersOptions } from '../listen/listeners.ts';
import type { EventBytes, Peer } from '../protocol/exchange.ts';
import { Mailbox, type Port, type Take } from './mailbox.ts';
import type { BackWord, FrontWord } from './protocol.ts';
import { type Line, RemoteExchange } from './remote-exchange.ts';

/** `port` leads to a thread that runs `serveFront`. */
export function remoteListeners(port: Port, options: ListenersOptions): Listeners {
  return new RemoteListeners(port, options);
}

type EventsWord = Extract<BackWord, readonly ['events', ...unknown[]]>;

interface Order {
  resolve(address: AddressInfo | undefined): void;
  reject(error: Error): void;
}

class RemoteListeners implements Listeners, Line {
  readonly mailbox: Mailbox<BackWord, FrontWord>;
  readonly #options: ListenersOptions;
  readonly #peers = new Map<number, Peer>();
  readonly #exchanges = new PassingMap<number, RemoteExchange>();
  readonly #orders = new Map<number, Order>();
  readonly #turns = new Map<number, () => void>();
  #order = 0;
  #counts = { open: 0, refused: 0 };
  /** The events said last: more watches of the same may follow. */
  #lastBatch: EventBytes | undefined;
  #lastEvents: EventsWord | undefined;

  constructor(port: Port, options: ListenersOptions) {
    this.#options = options;
    this.mailbox = new Mailbox(port);
    this.mailbox.hear((word, take) => this.#hear(word, take));
    this.mailbox.say(['open', options.tls, options.limits, options.pace !== undefined]);
  }

  async listen(port: number, host: string): Promise<AddressInfo> {
    return (await this.#ordered((order) => ['listen', order, port, host, false]))!;
  }

  async listenInsecure(port: number, host: string): Promise<AddressInfo> {
    return (await this.#ordered((order) => ['listen', order, port, host, true]))!;
  }

  renew(tls: Parameters<Listeners['renew']>[0]): void {
    this.mailbox.say(['renew', tls]);
  }

  async close(): Promise<void> {
    await this.#ordered((order) => ['close', order]);
  }

  nextTurn(task: () => void): void {
    const question = ++this.#order;
    this.#turns.set(question, task);
    this.mailbox.say(['turn', question]);
  }

  lines(): Iterable<string> {
    return connectionLines(this.#counts);
  }

  events(id: number, batch: EventBytes): void {
    const { last } = this.mailbox;
    if (this.#lastBatch === batch && last !== undefined && last === this.#lastEvents) {
      last[1].push(id);
      return;
    }
    const word: EventsWord = ['events', [id], batch.events.map((event) => event.json().length)];
    this.#lastBatch = batch;
    this.#lastEvents = word;
    this.mailbox.say(word, batch.json());
  }

  over(id: number): void {
    this.#exchanges.delete(id);
  }

  #ordered(word: (order: number) => BackWord): Promise<AddressInfo | undefined> {
    const order = ++this.#order;
    return new Promise((resolve, reject) => {
      this.#orders.set(order, { resolve, reject });
      this.mailbox.say(word(order));
    });
  }

  #hear(word: FrontWord, take: Take): void {
    switch (word[0]) {
      case 'request': {
        const [, id, connection, asked, bytes] = word;
        const body = asked.body === 'here' ? take(bytes) : undefined;
        const exchange = new RemoteExchange({ id, asked, body }, this.#peers.get(connection)!, this);
        this.#exchanges.set(id, exchange);
        this.#options.serve(exchange);
        return;
      }
      case 'connection': {
        const [, number, address, certificate, isUnsecured] = word;
        this.#peers.set(number, { address, certificate, isUnsecured });
        return;
      }
      case 'disconnected':
        this.#peers.delete(word[1]);
        return;
      case 'turned': {
        const task = this.#turns.get(word[1]);
        this.#turns.delete(word[1]);
        task?.();
        return;
      }
      case 'pace':
        void this.#pace(word[1], word[2]);
        return;
      case 'counts':
        this.#counts = { open: word[1], refused: word[2] };
        return;
      case 'log':
        this.#options.log[word[1]](word[2], word[3]);
        return;
      case 'done':
        this.#settle(word[1]).resolve(word[2]);
        return;
      case 'failed':
        this.#settle(word[1]).reject(Object.assign(new Error(word[2]), { code: word[3] }));
        return;
      default: {
        // Taken whether or not somebody still wants it: the next word's bytes follow.
        const body = word[0] === 'body' ? take(word[2]) : undefined;
        this.#exchanges.get(word[1])?.heard(word, body);
      }
    }
  }

  #settle(order: number): Order {
    const waiting = this.#orders.get(order);
    if (!waiting) throw new Error(`the front answered an order ${order} that nobody gave`);
    this.#orders.delete(order);
    return waiting;
  }

  async #pace(question: number, address: string): Promise<void> {
    await this.#options.pace?.(address);
    this.mailbox.say(['go', question]);
  }
}
