import { type IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import type { WebSocket, WebSocketServer } from 'ws';
import { Disconnected } from '../errors.ts';
import { nextReply } from '../listen/pipelined-requests.ts';
import type { EventBytes, EventWriter, ExtraHeaders, Peer, WatchForm } from './exchange.ts';
import { Http1Exchange, type Http1Options } from './http1.ts';

/** A subprotocol that carries a bearer token, base64url behind it: browsers have no other place for it. */
const BEARER = 'base64url.bearer.authorization.k8s.io.';

/** Loaded with the first upgrade. */
let loading: Promise<WebSocketServer> | undefined;

function server(): Promise<WebSocketServer> {
  loading ??= import('ws').then(
    ({ WebSocketServer }) =>
      new WebSocketServer({
        noServer: true,
        perMessageDeflate: false,
        // Watchers have nothing to say.
        maxPayload: 1024,
        handleProtocols: (offered) => [...offered].find((protocol) => !protocol.startsWith(BEARER)) ?? false,
      }),
  );
  return loading;
}

export interface Upgrade {
  readonly request: IncomingMessage;
  readonly socket: Duplex;
  /** What came behind the request's headers. */
  readonly head: Buffer;
}

/**
 * Whether the client can have a WebSocket. Any other protocol is none that is spoken here, and a request behind others
 * cannot have the connection for itself: both are read as if it had not been asked for.
 */
export function isWebSocket({ request, socket }: Upgrade): boolean {
  return request.headers.upgrade?.toLowerCase() === 'websocket' && request.method === 'GET' && !nextReply(socket);
}

/** A request that may become a WebSocket: a watch does; everything else is answered as HTTP. */
export class UpgradeExchange extends Http1Exchange {
  readonly #upgrade: Upgrade;

  constructor(upgrade: Upgrade, peer: Peer, options: Http1Options) {
    const { request, socket } = upgrade;
    const response = new ServerResponse(request);
    response.shouldKeepAlive = false;
    response.assignSocket(socket as Parameters<ServerResponse['assignSocket']>[0]);
    // Nobody reads on, and would hear that the client has closed its side.
    response.once('finish', () => request.socket.destroySoon());
    super(request, response, peer, options);
    this.#upgrade = upgrade;
    socket.on('error', () => socket.destroy());
  }

  override get token(): string | undefined {
    const carrier = this.#protocols().find((protocol) => protocol.startsWith(BEARER));
    return carrier && (Buffer.from(carrier.slice(BEARER.length), 'base64url').toString('utf8') || undefined);
  }

  override get watchForm(): WatchForm {
    return 'frames';
  }

  override startWatch(_extra: ExtraHeaders, gone: () => void): Promise<EventWriter> {
    return this.#accept(gone);
  }

  async #accept(gone: () => void): Promise<EventWriter> {
    const { request, socket, head } = this.#upgrade;
    const sockets = await server();
    this.response.detachSocket(socket as Parameters<ServerResponse['detachSocket']>[0]);
    return new Promise((resolve, reject) => {
      const onClose = () => reject(new Disconnected('the WebSocket could not be opened'));
      socket.once('close', onClose);
      sockets.handleUpgrade(request, socket, head, (webSocket) => {
        socket.off('close', onClose);
        webSocket.on('error', () => webSocket.terminate());
        webSocket.once('close', gone);
        resolve(new FramedWatch(webSocket, socket));
      });
    });
  }

  #protocols(): string[] {
    const header = this.headers['sec-websocket-protocol'] ?? '';
    return header.split(',').map((protocol) => protocol.trim());
  }
}

/** Each event is a text frame of its own; those of one turn leave together. */
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
