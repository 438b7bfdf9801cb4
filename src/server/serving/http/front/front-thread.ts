/** The front thread: owns the sockets, reads requests and writes responses, without interpreting them. */

import { BufferCollector } from '../../../../base/bytes/buffer-collector.ts';
import { free } from '../../../../base/bytes/shared-buffer.ts';
import { ShortLivedMap } from '../../../../base/collections/short-lived-map.ts';
import { PacedTasks } from '../../../../base/event-loop/paced-tasks.ts';
import { soon } from '../../../../base/event-loop/soon.ts';
import { TurnBudget } from '../../../../base/event-loop/turn-budget.ts';
import { Watchdog, type Work } from '../../../../base/event-loop/watchdog.ts';
import type { LogFields, Logger } from '../../../../base/log.ts';
import type { Clock } from '../../../../base/time/clock.ts';
import type { EventBytes, Exchange, Peer } from '../../exchange.ts';
import { Disconnected } from '../errors.ts';
import type { ConnectionCounts } from '../listen/connections.ts';
import { type Listeners, openListeners } from '../listen/listeners.ts';
import { collectGarbage } from '../node-internals.ts';
import { AnnouncedPeers } from './announced-peers.ts';
import { BatchedPort, type Port, type TakeBytes } from './batched-port.ts';

import type { ApiMessage, BodyLocation, EndedMessage, FrontMessage } from './messages.ts';
import { bodyFailed, OpenExchange, type OpenExchangeHost } from './open-exchange.ts';

/**
 * Limit for bodies that are read before the request is announced, and sent with it: most are smaller, and each saves a
 * round trip between the threads. Larger ones are read on request, when the client is known to be allowed to send them.
 */
const MAX_INCLUDED_BODY_BYTES = 64 * 1024;

/** The thread's work as named in the watchdog. */
const RECEIVING: Work = { work: 'receive', describe: () => ({}) };
const SENDING: Work = { work: 'send', describe: () => ({}) };

/** Runs until the API thread closes it. `port` leads to a thread that uses `remoteListeners`. */
export function serveFront(port: Port, clock: Clock): void {
  new FrontThread(port, clock);
}

class FrontThread implements OpenExchangeHost {
  readonly #port: BatchedPort<FrontMessage, ApiMessage>;
  readonly #clock: Clock;
  readonly #watchdog: Watchdog;
  readonly #exchanges = new ShortLivedMap<number, OpenExchange>();
  /** Events of watches, and the ends of watches whose last events may be pending. */
  readonly #watchWrites: PacedTasks;
  readonly #buffers = new BufferCollector(collectGarbage);
  readonly #peers = new AnnouncedPeers({
    send: (message) => this.#port.send(message),
    withdraw: (id) => this.#end('connection', id),
    nextId: () => ++this.#lastId,
  });
  /** Connections waiting for the API thread to let them proceed. */
  readonly #paced = new Map<number, () => void>();
  /** Watches whose clients have read data in this turn. */
  #progressed = new Set<OpenExchange>();
  #listeners: Listeners | undefined;
  #lastId = 0;
  /** The latest message about ended exchanges and connections. */
  #lastEnded: EndedMessage | undefined;

  constructor(port: Port, clock: Clock) {
    this.#clock = clock;
    this.#port = new BatchedPort(port);
    this.#watchWrites = new PacedTasks(new TurnBudget(clock), () => this.#watchdog.begin(SENDING));
    this.#watchdog = new Watchdog({
      clock,
      onBlocked: (work, milliseconds) => this.#port.send(['blocked', work.work, milliseconds, work.describe()]),
    });
    this.#port.onMessage((message, take) => {
      this.#watchdog.begin(SENDING);
      this.#handle(message, take);
    });
    this.#port.onMemory((bytes) => this.#buffers.passed(bytes));
  }

  #handle(message: ApiMessage, take: TakeBytes): void {
    switch (message[0]) {
      case 'reply': {
        const [, id, code, contentType, extra, bytes] = message;
        const body = take(bytes);
        const exchange = this.#exchanges.get(id);
        if (exchange) exchange.reply(code, contentType, { body, extra });
        else free(body);
        return;
      }
      case 'events':
        this.#writeEvents(message[1], message[2], take);
        return;
      case 'chunk': {
        const chunk = take(message[2]);
        const exchange = this.#exchanges.get(message[1]);
        if (exchange) exchange.chunk(chunk);
        else free(chunk);
        return;
      }
      case 'open': {
        const [, tls, limits, isPaced] = message;
        const pace = isPaced ? (address: string) => this.#pace(address) : undefined;
        const serve = (exchange: Exchange) => this.#serve(exchange);
        const onCounts = this.#reportCounts();
        const onDisconnect = (peer: Peer) => this.#peers.disconnected(peer);
        const tools = { clock: this.#clock, log: this.#log({}) };
        this.#listeners = openListeners({ tls, limits, pace, serve, onCounts, onDisconnect, ...tools });
        return;
      }
      case 'listen': {
        const [, command, port, host, isUnsecured] = message;
        const listeners = this.#opened();
        const listening = isUnsecured ? listeners.listenInsecure(port, host) : listeners.listen(port, host);
        listening.then(
          (address) => this.#port.send(['done', command, address]),
          (error: NodeJS.ErrnoException) => this.#port.send(['failed', command, error.message, error.code]),
        );
        return;
      }
      case 'renew':
        this.#opened().renew(message[1]);
        return;
      case 'close': {
        const [, command] = message;
        // Sends the last events of ended watches first.
        this.#watchWrites.run(() => void this.#close(command));
        return;
      }
      case 'proceed': {
        const proceed = this.#paced.get(message[1]);
        this.#paced.delete(message[1]);
        proceed?.();
        return;
      }
      case 'turn': {
        const [, request] = message;
        setImmediate(() => this.#port.send(['turned', request]));
        return;
      }
      case 'watch':
        this.#exchanges.get(message[1])?.watch({ contentType: message[2], extra: message[3] });
        return;
      case 'upgrade':
        this.#exchanges.get(message[1])?.upgrade(message[2]);
        return;
      case 'consumed':
        this.#exchanges.get(message[1])?.consumed(message[2]);
        return;
      case 'response':
        this.#exchanges.get(message[1])?.response(message[2], message[3]);
        return;
      case 'end': {
        const exchange = this.#exchanges.get(message[1]);
        if (exchange?.isWatch) this.#watchWrites.run(() => exchange.end());
        else exchange?.end();
        return;
      }
      case 'read-body':
        this.#exchanges.get(message[1])?.readBody();
        return;
      case 'stream-body':
        this.#exchanges.get(message[1])?.streamBody();
        return;
      case 'close-after-response':
        this.#exchanges.get(message[1])?.exchange.closeAfterResponse();
        return;
      case 'abort':
        this.#exchanges.get(message[1])?.exchange.abort();
        return;
      default:
        message satisfies never;
    }
  }

  /** Announces a request to the API thread, with its body if that is small. */
  #serve(exchange: Exchange): void {
    this.#watchdog.begin(RECEIVING);
    if (!exchange.hasBody()) this.#announce(exchange, 'none');
    else if (!isSmall(exchange.headers['content-length'])) this.#announce(exchange, 'unread');
    else {
      exchange.body().then(
        (body) => this.#announce(exchange, 'included', body),
        (error: unknown) => {
          if (error instanceof Disconnected) return;
          this.#port.send(bodyFailed(this.#announce(exchange, 'unread'), error));
        },
      );
    }
  }

  #announce(exchange: Exchange, body: BodyLocation, bytes?: Buffer): number {
    const { method, url, headers, token, watchFraming, peer } = exchange;
    const id = ++this.#lastId;
    const connection = this.#peers.idOf(peer);
    this.#port.send(
      ['request', id, connection, { method, url, headers, token, body, watchFraming }, bytes?.length ?? 0],
      bytes,
    );
    this.#peers.requestSent(peer);
    const open = new OpenExchange(id, exchange, this);
    this.#exchanges.set(id, open);
    open.followClient();
    return id;
  }

  #writeEvents(ids: readonly number[], lengths: readonly number[], take: TakeBytes): void {
    const whole = take(lengths.reduce((sum, length) => sum + length, 0));
    let end = 0;
    const events = lengths.map((length) => {
      end += length;
      const event = whole.subarray(end - length, end);
      return { json: () => event };
    });
    const batch: EventBytes = { events, json: () => whole };
    for (const id of ids) this.#watchWrites.run(() => this.#exchanges.get(id)?.events(batch, whole.length));
  }

  async #close(command: number): Promise<void> {
    await this.#opened().close();
    this.#port.send(['done', command, undefined]);
  }

  /** Returns a function that reports the latest counts once in a turn of the event loop. */
  #reportCounts(): (counts: ConnectionCounts) => void {
    let latest: ConnectionCounts = { open: 0, refused: 0 };
    const report = soon(() => this.#port.send(['counts', latest.open, latest.refused]));
    return (counts) => {
      latest = counts;
      report();
    };
  }

  /** Reports that exchanges or connections have ended: one message for as many as possible. */
  #end(what: 'exchange' | 'connection', id: number): void {
    const last = this.#lastEnded;
    if (last && this.#port.lastUnsent === last) last[what === 'exchange' ? 1 : 2].push(id);
    else {
      this.#lastEnded = what === 'exchange' ? ['ended', [id], []] : ['ended', [], [id]];
      this.#port.send(this.#lastEnded);
    }
  }

  disconnected(id: number): void {
    this.#end('exchange', id);
  }

  send(message: FrontMessage, bytes?: Uint8Array): void {
    if (bytes) this.#buffers.passed(bytes.length);
    this.#port.send(message, bytes);
  }

  get collections(): number {
    return this.#buffers.collections;
  }

  closed(id: number, largeBytes: number): void {
    this.#exchanges.delete(id);
    if (largeBytes > 0) this.#buffers.passed(largeBytes);
  }

  reportProgress(exchange: OpenExchange): void {
    this.#progressed.add(exchange);
    if (this.#progressed.size > 1) return;
    setImmediate(() => {
      const progressed = this.#progressed;
      this.#progressed = new Set();
      for (const each of progressed) each.reportSent();
    });
  }

  #pace(address: string): Promise<void> {
    const request = ++this.#lastId;
    return new Promise((proceed) => {
      this.#paced.set(request, proceed);
      this.#port.send(['pace', request, address]);
    });
  }

  #log(fields: LogFields): Logger {
    const log = (level: 'debug' | 'info' | 'warn' | 'error') => (message: string, more?: LogFields) =>
      this.#port.send(['log', level, message, { ...fields, ...more }]);
    const [debug, info, warn, error] = [log('debug'), log('info'), log('warn'), log('error')];
    return { debug, info, warn, error, with: (more) => this.#log({ ...fields, ...more }) };
  }

  #opened(): Listeners {
    if (!this.#listeners) throw new Error('the front thread has not been opened');
    return this.#listeners;
  }
}

function isSmall(declared: string | undefined): boolean {
  return declared !== undefined && Number(declared) <= MAX_INCLUDED_BODY_BYTES;
}
