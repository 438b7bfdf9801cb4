import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { type DataPiece, WebSocketConnection } from '../../../../protocols/websocket/connection.ts';
import { WebSocketError } from '../../../../protocols/websocket/frame-parser.ts';
import { handshakeHeaders, offeredProtocols } from '../../../../protocols/websocket/handshake.ts';
import type { EventBytes, EventWriter, HeaderList, Peer, WatchFraming, WatchHead } from '../../exchange.ts';
import { Disconnected } from '../errors.ts';
import { currentResponse, releaseSocket, responseToUpgrade } from '../node-internals.ts';
import { closeInTime } from './exchange-base.ts';
import { Http1Exchange, type Http1Options } from './http1.ts';
import { MAX_WHOLE_BYTES, SlicedOutput } from './sliced-output.ts';

/** Prefix of a subprotocol that carries a bearer token in base64url: a browser cannot set an Authorization header. */
const BEARER_PREFIX = 'base64url.bearer.authorization.k8s.io.';
const MAX_MESSAGE_BYTES = 1024;
/** The close code of messages that are too large. */
const MESSAGE_TOO_BIG = 1009;
const SWITCHING_PROTOCOLS = 101;
const BAD_REQUEST = 'HTTP/1.1 400 Bad Request\r\nConnection: close\r\nContent-Length: 0\r\n\r\n';

export interface Upgrade {
  readonly request: IncomingMessage;
  readonly socket: Duplex;
  /** Data received after the request's headers. */
  readonly head: Buffer;
}

/** Paths of proxies: the program behind one may know any protocol. */
const PROXY_PATH = /\/proxy(?:[/?]|$)/;

/**
 * Reports whether a request may have the connection for another protocol: a WebSocket, SPDY for exec and similar
 * subresources, or any protocol of a proxied program. Other protocols are not supported, and a pipelined request cannot
 * have the connection for itself: both are served as if they had not requested an upgrade. The same holds for a request
 * with a body, and for HTTP/2, which is only an offer of the client.
 */
export function isUpgrade(request: IncomingMessage, socket: Duplex): boolean {
  const { method, headers } = request;
  if (currentResponse(socket)) return false;
  if (isWebSocket(headers)) return method === 'GET';
  const hasBody = headers['transfer-encoding'] !== undefined || (headers['content-length'] ?? '0') !== '0';
  if (hasBody) return false;
  const protocol = headers.upgrade?.toLowerCase();
  return protocol === 'spdy/3.1' || (protocol !== 'h2c' && PROXY_PATH.test(request.url ?? ''));
}

function isWebSocket(headers: IncomingHttpHeaders): boolean {
  return headers.upgrade?.toLowerCase() === 'websocket';
}

/** A request for another protocol: a WebSocket for watches, the connection for exec and the like, else HTTP. */
export class UpgradeExchange extends Http1Exchange {
  readonly #upgrade: Upgrade;
  #isUpgraded = false;

  constructor(upgrade: Upgrade, peer: Peer, options: Http1Options) {
    const { request, socket } = upgrade;
    const response = responseToUpgrade(request, socket);
    // Nothing reads the socket any more, so the client's close would go unnoticed.
    response.once('finish', () => request.socket.destroySoon());
    super(request, response, peer, options);
    this.#upgrade = upgrade;
    socket.on('error', () => socket.destroy());
  }

  override get token(): string | undefined {
    const protocol = offeredProtocols(this.headers).find((offered) => offered.startsWith(BEARER_PREFIX));
    return protocol && (Buffer.from(protocol.slice(BEARER_PREFIX.length), 'base64url').toString('utf8') || undefined);
  }

  override get watchFraming(): WatchFraming {
    return isWebSocket(this.headers) ? 'frames' : 'lines';
  }

  override get code(): number {
    return this.#isUpgraded ? SWITCHING_PROTOCOLS : super.code;
  }

  override get isDisconnected(): boolean {
    return this.#isUpgraded ? this.#upgrade.socket.destroyed : super.isDisconnected;
  }

  override reply(code: number, contentType: string, body: Buffer, extra?: HeaderList): void {
    if (!this.#isUpgraded) super.reply(code, contentType, body, extra);
  }

  override upgrade(headers: HeaderList): Duplex {
    const { socket } = this.#upgrade;
    this.#isUpgraded = true;
    this.#switchProtocols(this.allHeaders(headers));
    socket.once('close', () => this.response.emit('close'));
    return socket;
  }

  override startWatch(head: WatchHead, onClose: () => void): EventWriter | Promise<EventWriter> {
    return isWebSocket(this.headers) ? this.#accept(onClose) : super.startWatch(head, onClose);
  }

  async #accept(onClose: () => void): Promise<EventWriter> {
    const { socket } = this.#upgrade;
    const protocol = offeredProtocols(this.headers).find((offered) => !offered.startsWith(BEARER_PREFIX));
    const headers = handshakeHeaders(this.headers, protocol);
    if (!headers || !socket.readable || !socket.writable) {
      releaseSocket(this.response, socket);
      socket.end(headers ? undefined : BAD_REQUEST, () => socket.destroy());
      throw new Disconnected('the WebSocket could not be opened');
    }
    this.#switchProtocols(headers);
    const connection = new WebSocketConnection(socket, { onData: limitMessages() });
    const { clock, limits } = this.options;
    void connection.closed.then(() => {
      // A client that broke the protocol may not read why.
      if (!socket.destroyed) closeInTime(socket, { clock, delayMs: limits.requestTimeoutMs });
      onClose();
    });
    return new FramedWatch(connection, socket, this.options);
  }

  /** Takes the connection from HTTP, and answers that it speaks another protocol now. */
  #switchProtocols(headers: HeaderList): void {
    const { socket, head } = this.#upgrade;
    const { clock, limits } = this.options;
    releaseSocket(this.response, socket);
    // The remote end has to close, too.
    socket.once('finish', () => closeInTime(socket, { clock, delayMs: limits.requestTimeoutMs }));
    const lines = headers.map((text, index) => (index % 2 === 0 ? `${text}: ` : `${text}\r\n`));
    socket.write(`HTTP/1.1 101 Switching Protocols\r\n${lines.join('')}\r\n`);
    if (head.length > 0) socket.unshift(head);
  }
}

/** Discards the messages of a client: clients of a watch have nothing to say. A large one ends the connection. */
function limitMessages(): (piece: DataPiece) => undefined {
  let size = 0;
  return ({ bytes, isStart }) => {
    size = (isStart ? 0 : size) + bytes.length;
    if (size > MAX_MESSAGE_BYTES) throw new WebSocketError(MESSAGE_TOO_BIG, 'the message is too large');
  };
}

/** Writes each event as a text message; those of a batch are written together. A large one has several frames. */
class FramedWatch implements EventWriter {
  readonly #connection: WebSocketConnection;
  readonly #socket: Duplex;
  readonly #options: Http1Options;
  readonly #large = new SlicedOutput((slice, isLast, written) => {
    this.#connection.sendText(slice, isLast, (error) => {
      written(error);
      this.#onProgress();
    });
  });
  #isEnded = false;
  #onProgress: () => void = () => undefined;

  constructor(connection: WebSocketConnection, socket: Duplex, options: Http1Options) {
    this.#connection = connection;
    this.#socket = socket;
    this.#options = options;
  }

  events(batch: EventBytes): void {
    if (this.#isEnded || !this.#socket.writable) return;
    this.#socket.cork();
    for (const event of batch.events) {
      const json = event.json();
      if (!this.#large.isEmpty || this.backlog() + json.length > MAX_WHOLE_BYTES) this.#large.push(json);
      else this.#connection.sendText(json, true, this.#onProgress);
    }
    this.#socket.uncork();
  }

  backlog(): number {
    return this.#socket.writableLength + this.#large.bytes;
  }

  onProgress(listener: () => void): void {
    this.#onProgress = listener;
  }

  end(): void {
    if (this.#isEnded) return;
    this.#isEnded = true;
    const { clock, limits } = this.#options;
    if (this.backlog() > 0) closeInTime(this.#socket, { clock, delayMs: limits.requestTimeoutMs });
    this.#large.whenEmpty(() => this.#connection.close());
  }
}
