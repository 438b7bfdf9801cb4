/** A request whose client is connected to the other thread. */
import type { IncomingHttpHeaders } from 'node:http';
import { Writable } from 'node:stream';
import { ApiError, badRequest } from '../../../base/errors.ts';
import { Disconnected, HttpError } from '../errors.ts';
import {
  type EventBytes,
  type EventWriter,
  type Exchange,
  type ExtraHeaders,
  LARGE_REPLY,
  NO_HEADERS,
  type Peer,
  type WatchForm,
} from '../protocol/exchange.ts';
import { ExchangeBase } from '../protocol/exchange-base.ts';
import type { Mailbox } from './mailbox.ts';
import type { Asked, BackWord, FrontWord } from './protocol.ts';

/** What an exchange needs of its surroundings. */
export interface Line {
  readonly mailbox: Mailbox<BackWord, FrontWord>;
  /** The same events for several watches are said once. */
  events(id: number, batch: EventBytes): void;
  /** Nothing more is heard or said of it. */
  over(id: number): void;
}

interface Settling<T> {
  resolve(value: T): void;
  reject(error: Error): void;
}

/** When nothing has been written. */
const NO_BYTES = Buffer.alloc(0);
const SWITCHING = 101;

export class RemoteExchange extends ExchangeBase implements Exchange {
  code = 0;
  isGone = false;
  isUnsent = false;
  readonly id: number;
  readonly #asked: Asked;
  readonly #line: Line;
  #body: Buffer | Error | undefined;
  #reading: Settling<Buffer> | undefined;
  #starting: Settling<EventWriter> | undefined;
  /** Bytes of a reply that goes on: said, and taken by the client. */
  #said = 0;
  #taken = 0;
  #onTaken: (() => void) | undefined;
  #whenGone: (() => void)[] | undefined;
  /** Nothing more is heard of it: the client has left, or has its whole answer. */
  #isOver = false;

  constructor(
    { id, asked, body }: { readonly id: number; readonly asked: Asked; readonly body: Buffer | undefined },
    peer: Peer,
    line: Line,
  ) {
    super(peer);
    this.id = id;
    this.#asked = asked;
    this.#body = body;
    this.#line = line;
  }

  get method(): string {
    return this.#asked.method;
  }

  get url(): string {
    return this.#asked.url;
  }

  get headers(): IncomingHttpHeaders {
    return this.#asked.headers;
  }

  override get token(): string | undefined {
    return this.#asked.token;
  }

  override get watchForm(): WatchForm {
    return this.#asked.watchForm;
  }

  hasBody(): boolean {
    return this.#asked.body !== 'none';
  }

  body(): Promise<Buffer> {
    if (this.#body instanceof Error) return Promise.reject(this.#body);
    if (this.#body) return Promise.resolve(this.#body);
    if (this.#isOver) return Promise.reject(new Disconnected('the client left before its request was read'));
    if (this.#asked.body === 'none') return Promise.resolve(NO_BYTES);
    this.#say(['read', this.id]);
    return new Promise((resolve, reject) => {
      this.#reading = { resolve, reject };
    });
  }

  reply(code: number, contentType: string, body: Buffer, extra: ExtraHeaders = NO_HEADERS): void {
    if (this.code !== 0 || this.isGone) return;
    this.code = code;
    this.isUnsent = body.length > LARGE_REPLY;
    this.#line.mailbox.say(['reply', this.id, code, contentType, this.allHeaders(extra), body.length], body);
    if (!this.isUnsent) this.#end();
  }

  startWatch(extra: ExtraHeaders, gone: () => void): EventWriter | Promise<EventWriter> {
    const isFramed = this.watchForm === 'frames';
    this.code = isFramed ? SWITCHING : 200;
    this.whenGone(gone);
    this.#say(['watch', this.id, this.allHeaders(extra)]);
    if (!isFramed) return this.#watch();
    if (this.isGone) return Promise.reject(new Disconnected('the WebSocket could not be opened'));
    return new Promise((resolve, reject) => {
      this.#starting = { resolve, reject };
    });
  }

  startText(contentType: string, extra: ExtraHeaders): Writable {
    this.code = 200;
    const text = new Writable({
      write: (piece: Buffer, _encoding, written) => {
        this.#said += piece.length;
        this.#onTaken = () => written();
        this.#line.mailbox.say(['piece', this.id, piece.length], piece);
      },
      final: (ended) => {
        this.#say(['end', this.id]);
        ended();
      },
    });
    this.whenGone(() => text.destroy());
    this.#say(['text', this.id, contentType, this.allHeaders(extra)]);
    return text;
  }

  whenGone(listener: () => void): void {
    if (this.#isOver) listener();
    else if (this.#whenGone) this.#whenGone.push(listener);
    else this.#whenGone = [listener];
  }

  lastOne(): void {
    this.#say(['last', this.id]);
  }

  abandon(): void {
    this.#say(['abandon', this.id]);
  }

  /** What the other thread says of it, beside its first word. */
  heard(word: FrontWord, body: Buffer | undefined): void {
    switch (word[0]) {
      case 'body':
        this.#body = body;
        this.#reading?.resolve(body!);
        break;
      case 'bodyless':
        this.#body = unread(word[2], word[3]);
        this.#reading?.reject(this.#body);
        break;
      case 'started':
        this.#starting?.resolve(this.#watch());
        this.#starting = undefined;
        break;
      case 'taken':
        this.#taken = word[2];
        if (this.#taken >= this.#said) this.#wake();
        break;
      case 'gone':
        this.#leave();
        break;
    }
  }

  #leave(): void {
    this.isGone = true;
    this.isUnsent = false;
    this.#end();
    this.#wake();
  }

  /** Whoever still waits for something of the client waits in vain: also where it was answered before that came. */
  #end(): void {
    this.#isOver = true;
    this.#line.over(this.id);
    this.#reading?.reject(new Disconnected('the client left before its request was complete'));
    this.#starting?.reject(new Disconnected('the WebSocket could not be opened'));
    if (!this.#whenGone) return;
    for (const listener of this.#whenGone) listener();
    this.#whenGone = undefined;
  }

  #wake(): void {
    const onTaken = this.#onTaken;
    this.#onTaken = undefined;
    onTaken?.();
  }

  /** Events are written as long as somebody is there. */
  #watch(): EventWriter {
    return {
      events: (batch) => {
        if (this.isGone) return;
        this.#said += batch.json().length;
        this.#line.events(this.id, batch);
      },
      backlog: () => this.#said - this.#taken,
      end: () => this.#say(['end', this.id]),
    };
  }

  /** To nobody, when the client has left. */
  #say(word: BackWord): void {
    if (!this.isGone) this.#line.mailbox.say(word);
  }
}

function unread(code: number, message: string): Error {
  switch (code) {
    case 0:
      return new Disconnected(message);
    case 408:
      return new HttpError(code, message);
    case 413:
      return new ApiError('RequestEntityTooLarge', message);
    default:
      return badRequest(message);
  }
}
