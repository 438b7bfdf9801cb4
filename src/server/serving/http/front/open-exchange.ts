/** An exchange that the API thread is handling, with the state that the front thread keeps. */
import type { Duplex, Readable, Writable } from 'node:stream';
import { isApiError } from '../../../../api/errors.ts';
import { free, isShared, makeMovable } from '../../../../base/bytes/shared-buffer.ts';
import {
  type EventBytes,
  type EventWriter,
  type Exchange,
  type HeaderList,
  LARGE_RESPONSE_BYTES,
  type WatchHead,
} from '../../exchange.ts';
import { HttpError } from '../errors.ts';
import { type FrontMessage, MAX_IN_FLIGHT_BYTES } from './messages.ts';

/** The functions of the front thread that an open exchange uses. */
export interface OpenExchangeHost {
  send(message: FrontMessage, bytes?: Uint8Array): void;
  /** Reports that the client has disconnected, or has its whole response: the last message about this exchange. */
  disconnected(id: number): void;
  /** Calls `reportSent` at the end of this turn of the event loop. */
  reportProgress(exchange: OpenExchange): void;
  /** Number of collections of this thread's garbage because of large buffers. */
  readonly collections: number;
  /** Ends the exchange: no more messages about it follow. `largeBytes` of its response are left to be collected. */
  closed(id: number, largeBytes: number): void;
}

/** Minimum number of sent bytes to report, unless everything was sent. */
const REPORTED_BYTES = 64 * 1024;

export class OpenExchange {
  #watch: EventWriter | undefined;
  #text: Writable | undefined;
  /** The connection of an upgraded request, or its body; bytes received, and bytes consumed by the API thread. */
  #incoming: Readable | undefined;
  #received = 0;
  #consumed = 0;
  /** Bytes of a streamed response: written, sent of the written chunks, and reported to the API thread as sent. */
  #written = 0;
  #sent = 0;
  #reported = 0;
  /** The size of a large response, and the number of collections when it was written if its memory is shared. */
  #largeBytes = 0;
  #sharedSince: number | undefined;
  #isClosed = false;

  constructor(
    readonly id: number,
    readonly exchange: Exchange,
    private readonly host: OpenExchangeHost,
  ) {}

  get isWatch(): boolean {
    return this.#watch !== undefined;
  }

  /** Reports when the client disconnects; at once if it already has. */
  followClient(): void {
    this.exchange.onClose(() => this.#onClose());
  }

  reply(code: number, contentType: string, { body, extra }: { body: Buffer; extra: HeaderList }): void {
    this.exchange.reply(code, contentType, body, extra);
    // A large response stays open until it was sent: until then the API thread may abort it.
    if (body.length <= LARGE_RESPONSE_BYTES) this.#close();
    else {
      this.#largeBytes = body.length;
      if (isShared(body)) this.#sharedSince = this.host.collections;
    }
  }

  watch(head: WatchHead): void {
    const started = this.exchange.startWatch(head, () => this.#onClose());
    if (!(started instanceof Promise)) {
      this.#follow(started);
      return;
    }
    started.then(
      (watch) => {
        this.#follow(watch);
        this.host.send(['watch-started', this.id]);
      },
      () => this.#onClose(),
    );
  }

  events(batch: EventBytes, bytes: number): void {
    this.#written += bytes;
    this.#watch?.events(batch);
  }

  response(code: number, headers: HeaderList): void {
    try {
      this.#text = this.exchange.startResponse(code, headers);
    } catch {
      // The headers may come from another program: a rejection by Node must not end this thread.
      this.exchange.abort();
    }
  }

  upgrade(headers: HeaderList): void {
    let socket: Duplex;
    try {
      socket = this.exchange.upgrade(headers);
    } catch {
      this.exchange.abort();
      return;
    }
    this.#text = socket;
    this.#passOn(socket);
    socket.on('error', () => socket.destroy());
    socket.once('close', () => this.#onClose());
  }

  streamBody(): void {
    const body = this.exchange.bodyStream();
    this.#passOn(body);
    // A disconnect is reported when the exchange closes.
    body.on('error', () => undefined);
  }

  consumed(total: number): void {
    this.#consumed = total;
    if (this.#received - total < MAX_IN_FLIGHT_BYTES) this.#incoming?.resume();
  }

  chunk(bytes: Buffer): void {
    this.#written += bytes.length;
    const total = this.#written;
    this.#text?.write(bytes, (error) => {
      // After an error, its memory might still be in use.
      if (error) return;
      free(bytes);
      this.#sent = total;
      if (total < this.#written && total - this.#reported < REPORTED_BYTES) return;
      this.#reported = total;
      this.host.send(['sent', this.id, total]);
    });
  }

  end(): void {
    this.#watch?.end();
    this.#text?.end();
  }

  readBody(): void {
    this.exchange.body().then(
      (body) => this.host.send(['body', this.id, body.length], makeMovable(body)),
      (error: unknown) => this.host.send(bodyFailed(this.id, error)),
    );
  }

  /** Reports how much of a watch has been sent. */
  reportSent(): void {
    if (!this.#watch || this.#isClosed) return;
    const total = this.#written - this.#watch.backlog();
    if (total === this.#reported) return;
    this.#reported = total;
    this.host.send(['sent', this.id, total]);
  }

  /** Sends incoming data to the API thread, no faster than it is consumed there. */
  #passOn(incoming: Readable): void {
    this.#incoming = incoming;
    incoming.on('data', (bytes: Buffer) => {
      // Data after the response is dropped.
      if (this.#isClosed) return;
      this.#received += bytes.length;
      this.host.send(['data', this.id, bytes.length], bytes);
      if (this.#received - this.#consumed >= MAX_IN_FLIGHT_BYTES) incoming.pause();
    });
    incoming.once('end', () => {
      if (!this.#isClosed) this.host.send(['data-end', this.id]);
    });
  }

  #follow(watch: EventWriter): void {
    this.#watch = watch;
    watch.onProgress(() => this.host.reportProgress(this));
  }

  #onClose(): void {
    if (this.#isClosed) return;
    this.host.disconnected(this.id);
    this.#close();
  }

  #close(): void {
    this.#isClosed = true;
    // The API thread reports when shared memory can be collected. Memory still being sent by then has to be counted
    // again.
    const isCounted = this.#sharedSince !== undefined && this.#sharedSince === this.host.collections;
    const unsentBytes = this.#text ? this.#written - this.#sent : 0;
    this.host.closed(this.id, unsentBytes + (isCounted ? 0 : this.#largeBytes));
  }
}

/** Creates the message that a body could not be read, with the reason. */
export function bodyFailed(id: number, error: unknown): FrontMessage {
  const code = error instanceof HttpError ? error.code : isApiError(error) ? error.toStatus().code : 0;
  return ['body-failed', id, code, error instanceof Error ? error.message : String(error)];
}
