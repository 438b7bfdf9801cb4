import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import type { WebSocket, WebSocketServer } from 'ws';
import type { EventBytes, EventWriter, HeaderList, Peer, WatchFraming, WatchHead } from '../../exchange.ts';
import { Disconnected } from '../errors.ts';
import { currentResponse, releaseSocket, responseToUpgrade } from '../node-internals.ts';
import { closeInTime } from './close-in-time.ts';
import { Http1Exchange, type Http1Options } from './http1.ts';
import { MAX_WHOLE_BYTES, SlicedOutput } from './sliced-output.ts';

/** Prefix of a subprotocol that carries a bearer token in base64url: a browser cannot set an Authorization header. */
const BEARER_PREFIX = 'base64url.bearer.authorization.k8s.io.';
const MAX_MESSAGE_BYTES = 1024;
const SWITCHING_PROTOCOLS = 101;

/** Loaded on the first upgrade. */
let loading: Promise<WebSocketServer> | undefined;

function server(): Promise<WebSocketServer> {
  loading ??= import('ws').then(
    ({ WebSocketServer }) =>
      new WebSocketServer({
        noServer: true,
        perMessageDeflate: false,
        // Clients of a watch send nothing.
        maxPayload: MAX_MESSAGE_BYTES,
        handleProtocols: (offered) => [...offered].find((protocol) => !protocol.startsWith(BEARER_PREFIX)) ?? false,
      }),
  );
  return loading;
}

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

/**
 * A request for another protocol. A watch gets a WebSocket, exec and similar subresources the connection itself;
 * everything else gets a response over HTTP.
 */
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
    const protocol = this.#protocols().find((offered) => offered.startsWith(BEARER_PREFIX));
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
    const { socket, head } = this.#upgrade;
    const { clock, limits } = this.options;
    this.#isUpgraded = true;
    releaseSocket(this.response, socket);
    socket.once('close', () => this.response.emit('close'));
    // The remote end has to close, too.
    socket.once('finish', () => closeInTime(socket, { clock, delayMs: limits.requestTimeoutMs }));
    const all = this.allHeaders(headers);
    const lines = all.map((text, index) => (index % 2 === 0 ? `${text}: ` : `${text}\r\n`));
    socket.write(`HTTP/1.1 101 Switching Protocols\r\n${lines.join('')}\r\n`);
    if (head.length > 0) socket.unshift(head);
    return socket;
  }

  override startWatch(head: WatchHead, onClose: () => void): EventWriter | Promise<EventWriter> {
    return isWebSocket(this.headers) ? this.#accept(onClose) : super.startWatch(head, onClose);
  }

  async #accept(onClose: () => void): Promise<EventWriter> {
    const { request, socket, head } = this.#upgrade;
    const sockets = await server();
    releaseSocket(this.response, socket);
    return new Promise((resolve, reject) => {
      const onDisconnect = () => reject(new Disconnected('the WebSocket could not be opened'));
      socket.once('close', onDisconnect);
      sockets.handleUpgrade(request, socket, head, (webSocket) => {
        socket.off('close', onDisconnect);
        webSocket.on('error', () => webSocket.terminate());
        webSocket.once('close', onClose);
        resolve(new FramedWatch(webSocket, socket, this.options));
      });
    });
  }

  #protocols(): string[] {
    const header = this.headers['sec-websocket-protocol'] ?? '';
    return header.split(',').map((protocol) => protocol.trim());
  }
}

/** Writes each event as a text message; those of a batch are written together. A large one has several frames. */
class FramedWatch implements EventWriter {
  readonly #webSocket: WebSocket;
  readonly #socket: Duplex;
  readonly #options: Http1Options;
  readonly #large = new SlicedOutput((slice, isLast, written) => {
    this.#webSocket.send(slice, { binary: false, fin: isLast }, (error) => {
      written(error);
      this.#onProgress();
    });
  });
  #isEnded = false;
  #onProgress: () => void = () => undefined;

  constructor(webSocket: WebSocket, socket: Duplex, options: Http1Options) {
    this.#webSocket = webSocket;
    this.#socket = socket;
    this.#options = options;
  }

  events(batch: EventBytes): void {
    if (this.#isEnded || this.#webSocket.readyState !== this.#webSocket.OPEN) return;
    this.#socket.cork();
    for (const event of batch.events) {
      const json = event.json();
      if (!this.#large.isEmpty || this.backlog() + json.length > MAX_WHOLE_BYTES) this.#large.push(json);
      else this.#webSocket.send(json, { binary: false }, this.#onProgress);
    }
    this.#socket.uncork();
  }

  backlog(): number {
    return this.#webSocket.bufferedAmount + this.#large.bytes;
  }

  onProgress(listener: () => void): void {
    this.#onProgress = listener;
  }

  end(): void {
    if (this.#isEnded) return;
    this.#isEnded = true;
    const { clock, limits } = this.#options;
    if (this.backlog() > 0) closeInTime(this.#socket, { clock, delayMs: limits.requestTimeoutMs });
    this.#large.whenEmpty(() => this.#webSocket.close(1000));
  }
}
