/** The thread with the sockets: it reads requests and writes replies, and knows nothing of what they are about. */
import type { Clock } from '../../../base/clock.ts';
import type { LogFields, Logger } from '../../../base/log.ts';
import { PassingMap } from '../../../base/passing-map.ts';
import { Disconnected } from '../errors.ts';
import type { ConnectionCounts } from '../listen/connections.ts';
import { type Listeners, openListeners } from '../listen/listeners.ts';
import type { EventBytes, Exchange, Peer } from '../protocol/exchange.ts';
import { Mailbox, type Port, type Take } from './mailbox.ts';
import { bodyless, type Hearer, OpenExchange } from './open-exchange.ts';
import { Peers } from './peers.ts';
import type { BackWord, BodyPlace, FrontWord } from './protocol.ts';

/**
 * Bytes of a body that is read before the other thread hears of the request: most are smaller, and each saves a journey.
 * Larger ones are read when somebody who may send them wants to.
 */
const EAGER = 64 * 1024;

/** Milliseconds between two looks at watches whose clients do not keep up. */
const SWEEP = 20;

/** Runs until the other end closes it. `port` leads to a thread with `remoteListeners`. */
export function serveFront(port: Port, clock: Clock): void {
  new Front(port, clock);
}

class Front implements Hearer {
  readonly #mailbox: Mailbox<FrontWord, BackWord>;
  readonly #clock: Clock;
  readonly #exchanges = new PassingMap<number, OpenExchange>();
  readonly #peers = new Peers(
    (word) => this.#mailbox.say(word),
    () => ++this.#last,
  );
  readonly #questions = new Map<number, () => void>();
  /** Whoever has bytes that wait for its client. */
  readonly #behind = new Set<OpenExchange>();
  #listeners: Listeners | undefined;
  #last = 0;
  #isSweeping = false;

  constructor(port: Port, clock: Clock) {
    this.#clock = clock;
    this.#mailbox = new Mailbox(port);
    this.#mailbox.hear((word, take) => this.#hear(word, take));
  }

  #hear(word: BackWord, take: Take): void {
    switch (word[0]) {
      case 'reply': {
        const [, id, code, contentType, extra, bytes] = word;
        const body = take(bytes);
        this.#exchanges.get(id)?.reply(code, contentType, { body, extra });
        return;
      }
      case 'events':
        this.#write(word[1], word[2], take);
        return;
      case 'piece': {
        const piece = take(word[2]);
        this.#exchanges.get(word[1])?.piece(piece);
        return;
      }
      case 'open': {
        const [, tls, limits, isPaced] = word;
        const pace = isPaced ? (address: string) => this.#pace(address) : undefined;
        const serve = (exchange: Exchange) => this.#serve(exchange);
        const counted = ({ open, refused }: ConnectionCounts) => this.#mailbox.say(['counts', open, refused]);
        const left = (peer: Peer) => this.#peers.left(peer);
        const tools = { clock: this.#clock, log: this.#log({}) };
        this.#listeners = openListeners({ tls, limits, pace, serve, counted, left, ...tools });
        return;
      }
      case 'listen': {
        const [, order, port, host, isUnsecured] = word;
        const listeners = this.#opened();
        const listening = isUnsecured ? listeners.listenInsecure(port, host) : listeners.listen(port, host);
        listening.then(
          (address) => this.#mailbox.say(['done', order, address]),
          ({ message, code }: NodeJS.ErrnoException) => this.#mailbox.say(['failed', order, message, code]),
        );
        return;
      }
      case 'renew':
        this.#opened().renew(word[1]);
        return;
      case 'close': {
        const [, order] = word;
        void this.#opened()
          .close()
          .then(() => this.#mailbox.say(['done', order, undefined]));
        return;
      }
      case 'go': {
        const go = this.#questions.get(word[1]);
        this.#questions.delete(word[1]);
        go?.();
        return;
      }
      case 'turn': {
        const [, question] = word;
        setImmediate(() => this.#mailbox.say(['turned', question]));
        return;
      }
      case 'watch':
        this.#exchanges.get(word[1])?.watch(word[2]);
        return;
      case 'text':
        this.#exchanges.get(word[1])?.text(word[2], word[3]);
        return;
      case 'end':
        this.#exchanges.get(word[1])?.end();
        return;
      case 'read':
        this.#exchanges.get(word[1])?.read();
        return;
      case 'last':
        this.#exchanges.get(word[1])?.exchange.lastOne();
        return;
      case 'abandon':
        this.#exchanges.get(word[1])?.exchange.abandon();
        return;
      default:
        word satisfies never;
    }
  }

  /** Tells the other thread of a request, with its body where that is small. */
  #serve(exchange: Exchange): void {
    if (!exchange.hasBody()) this.#tell(exchange, 'none');
    else if (!isSmall(exchange.headers['content-length'])) this.#tell(exchange, 'unread');
    else {
      exchange.body().then(
        (body) => this.#tell(exchange, 'here', body),
        (error: unknown) => {
          if (error instanceof Disconnected) return;
          this.#mailbox.say(bodyless(this.#tell(exchange, 'unread'), error));
        },
      );
    }
  }

  #tell(exchange: Exchange, body: BodyPlace, bytes?: Buffer): number {
    const { method, url, headers, token, watchForm, peer } = exchange;
    const id = ++this.#last;
    const connection = this.#peers.numberOf(peer);
    this.#mailbox.say(
      ['request', id, connection, { method, url, headers, token, body, watchForm }, bytes?.length ?? 0],
      bytes,
    );
    this.#peers.told(peer);
    const open = new OpenExchange(id, exchange, this);
    this.#exchanges.set(id, open);
    open.follow();
    return id;
  }

  #write(ids: readonly number[], lengths: readonly number[], take: Take): void {
    const whole = take(lengths.reduce((sum, length) => sum + length, 0));
    let end = 0;
    const events = lengths.map((length) => {
      end += length;
      const event = whole.subarray(end - length, end);
      return { json: () => event };
    });
    const batch: EventBytes = { events, json: () => whole };
    for (const id of ids) this.#exchanges.get(id)?.events(batch, whole.length);
  }

  say(word: FrontWord, bytes?: Uint8Array): void {
    this.#mailbox.say(word, bytes);
  }

  over(id: number): void {
    this.#exchanges.delete(id);
  }

  behind(exchange: OpenExchange): void {
    this.#behind.add(exchange);
    if (this.#isSweeping) return;
    this.#isSweeping = true;
    setImmediate(() => this.#sweep());
  }

  #sweep(): void {
    for (const exchange of this.#behind) if (exchange.report()) this.#behind.delete(exchange);
    if (this.#behind.size === 0) this.#isSweeping = false;
    else this.#clock.timer(SWEEP, () => this.#sweep());
  }

  #pace(address: string): Promise<void> {
    const question = ++this.#last;
    return new Promise((go) => {
      this.#questions.set(question, go);
      this.#mailbox.say(['pace', question, address]);
    });
  }

  #log(fields: LogFields): Logger {
    const say = (level: 'debug' | 'info' | 'warn' | 'error') => (message: string, more?: LogFields) =>
      this.#mailbox.say(['log', level, message, { ...fields, ...more }]);
    const [debug, info, warn, error] = [say('debug'), say('info'), say('warn'), say('error')];
    return { debug, info, warn, error, with: (more) => this.#log({ ...fields, ...more }) };
  }

  #opened(): Listeners {
    if (!this.#listeners) throw new Error('the front was not opened');
    return this.#listeners;
  }
}

function isSmall(declared: string | undefined): boolean {
  return declared !== undefined && Number(declared) <= EAGER;
}
