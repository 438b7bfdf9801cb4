import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import type { WebSocket, WebSocketServer } from 'ws';
import { Disconnected } from '../errors.ts';
import { currentResponse, releaseSocket, responseToUpgrade } from '../node-internals.ts';
import type { EventBytes, EventWriter, HeaderList, Peer, WatchFraming } from './exchange.ts';
import { Http1Exchange, type Http1Options } from './http1.ts';

/** Prefix of a subprotocol that carries a bearer token in base64url: a browser cannot set an Authorization header. */
const BEARER_PREFIX = 'base64url.bearer.authorization.k8s.io.';
const MAX_MESSAGE_BYTES = 1024;

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
  /** What was received after the request's headers. */
  readonly head: Buffer;
}

/**
 * Whether an upgrade request gets a WebSocket. Other protocols are not supported, and a request behind others cannot have
 * the connection for itself: both are served as if they had not asked for an upgrade.
 */
export function isWebSocket(request: IncomingMessage, socket: Duplex): boolean {
  const { method, headers } = request;
  return headers.upgrade?.toLowerCase() === 'websocket' && method === 'GET' && !currentResponse(socket);
}

/** A request that asks for a WebSocket. A watch gets one; everything else is answered over HTTP. */
export class UpgradeExchange extends Http1Exchange {
  readonly #upgrade: Upgrade;

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
    return 'frames';
  }

  override startWatch(_extra: HeaderList, onClose: () => void): Promise<EventWriter> {
    return this.#accept(onClose);
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
        resolve(new FramedWatch(webSocket, socket));
      });
    });
  }

  #protocols(): string[] {
    const header = this.headers['sec-websocket-protocol'] ?? '';
    return header.split(',').map((protocol) => protocol.trim());
  }
}

/** Each event is a text frame; those of a batch are written together. */
class FramedWatch implements EventWriter {
  constructor(
    private readonly webSocket: WebSocket,
    private readonly socket: Duplex,
  ) {}

  events(batch: EventBytes): void {
    if (this.webSocket.readyState !== this.webSocket.OPEN) return;
    this.socket.cork();
    for (const event of batch.events) this.webSocket.send(event.json(), { binary: false });
    this.socket.uncork();
  }

  backlog(): number {
    return this.webSocket.bufferedAmount;
  }

  end(): void {
    this.webSocket.close(1000);
  }
}
