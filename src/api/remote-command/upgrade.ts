/** Negotiates the protocol of a request that upgrades its connection. */
import type { IncomingHttpHeaders } from 'node:http';
import { Duplex, PassThrough, Writable } from 'node:stream';
import type { Clock } from '../../base/time/clock.ts';
import { WebSocketConnection } from '../../protocols/websocket/connection.ts';
import { handshakeHeaders, offeredProtocols } from '../../protocols/websocket/handshake.ts';
import { ApiError, badRequest } from '../errors.ts';
import type { CommandChannels, CommandStreams } from './command-channels.ts';
import { SPDY_COMMAND_PROTOCOLS, spdyChannels } from './spdy-channels.ts';
import { PORT_PROTOCOL, type PortForwarder, serveSpdyPorts } from './spdy-ports.ts';
import { UNNAMED_PROTOCOL, WEBSOCKET_PROTOCOLS, websocketChannels, written } from './websocket-channels.ts';
import { serveWebSocketPorts, WEBSOCKET_PORT_PROTOCOLS } from './websocket-ports.ts';

/** The part of a request that an upgrade depends on. */
interface UpgradeRequest {
  readonly method: string;
  readonly headers: IncomingHttpHeaders;
}

export interface Upgrade<T> {
  /** Headers of the response with code 101: names and values. */
  readonly headers: readonly string[];
  /** Speaks the protocol on the connection, after the response. */
  start(socket: Duplex): T;
}

/** A channel number is one byte, and a port takes two channels. All ports are connected at once. */
const MAX_WEBSOCKET_PORTS = 128;
const TUNNEL_PROTOCOL = `SPDY/3.1+${PORT_PROTOCOL}`;
/** A browser cannot set an Authorization header, and sends its token as a subprotocol. */
const BEARER_PREFIX = 'base64url.bearer.authorization.k8s.io.';

/** Negotiates the protocol of exec and attach. Throws an ApiError when the request offers no known protocol. */
export function commandUpgrade(
  request: UpgradeRequest,
  streams: CommandStreams,
  clock: Clock,
): Upgrade<Promise<CommandChannels>> {
  if (asks(request, 'websocket')) {
    const known = WEBSOCKET_PROTOCOLS.map(({ name }) => name!);
    const name = websocketProtocol(request.headers, known);
    const protocol = WEBSOCKET_PROTOCOLS.find((each) => each.name === name) ?? UNNAMED_PROTOCOL;
    return {
      headers: websocketHeaders(request.headers, name),
      start: async (socket) => websocketChannels(socket, { protocol, streams, clock }),
    };
  }
  const protocol = spdyProtocol(request, SPDY_COMMAND_PROTOCOLS) ?? 'channel.k8s.io';
  return { headers: spdyHeaders(protocol), start: (socket) => spdyChannels(socket, { protocol, streams, clock }) };
}

/**
 * Negotiates the protocol of port-forward. `ports` are the ports of the query, required with a WebSocket unless it
 * tunnels SPDY. The started session resolves when the client has disconnected.
 */
export function portUpgrade(
  request: UpgradeRequest,
  ports: readonly number[],
  forwarder: PortForwarder,
): Upgrade<Promise<void>> {
  if (asks(request, 'websocket')) {
    const name = websocketProtocol(request.headers, [TUNNEL_PROTOCOL, ...WEBSOCKET_PORT_PROTOCOLS]);
    const headers = websocketHeaders(request.headers, name);
    if (name === TUNNEL_PROTOCOL)
      return { headers, start: (socket) => serveSpdyPorts(websocketTunnel(socket), forwarder) };
    if (ports.length === 0) throw badRequest('query parameter "port" is required');
    if (ports.length > MAX_WEBSOCKET_PORTS) throw badRequest(`at most ${MAX_WEBSOCKET_PORTS} ports can be forwarded`);
    const isBase64 = name?.includes('base64') ?? false;
    return { headers, start: (socket) => serveWebSocketPorts(socket, { isBase64, ports, forwarder }) };
  }
  const protocol = spdyProtocol(request, [PORT_PROTOCOL]) ?? PORT_PROTOCOL;
  return { headers: spdyHeaders(protocol), start: (socket) => serveSpdyPorts(socket, forwarder) };
}

/** Negotiates the protocol of a text stream, such as a log. What is written to it is sent as messages. */
export function textUpgrade({ headers }: UpgradeRequest): Upgrade<Writable> {
  const name = websocketProtocol(headers, WEBSOCKET_TEXT_PROTOCOLS);
  const isBase64 = name?.includes('base64') ?? false;
  return { headers: websocketHeaders(headers, name), start: (socket) => websocketText(socket, { isBase64 }) };
}

function asks({ headers }: UpgradeRequest, protocol: string): boolean {
  const connection = headers.connection?.toLowerCase() ?? '';
  return connection.includes('upgrade') && headers.upgrade?.toLowerCase() === protocol;
}

/** The first protocol of the client that the server supports; undefined if the client offers none. */
function websocketProtocol(headers: IncomingHttpHeaders, known: readonly string[]): string | undefined {
  const offered = offeredProtocols(headers).filter((protocol) => !protocol.startsWith(BEARER_PREFIX));
  const chosen = offered.find((protocol) => known.includes(protocol));
  if (!chosen && offered.length > 0) {
    throw badRequest(`unable to upgrade: the server supports none of the subprotocols [${offered.join(' ')}]`);
  }
  return chosen;
}

function websocketHeaders(headers: IncomingHttpHeaders, protocol: string | undefined): readonly string[] {
  const answer = handshakeHeaders(headers, protocol);
  if (!answer) throw badRequest('invalid WebSocket handshake');
  return answer;
}

function spdyProtocol<P extends string>(request: UpgradeRequest, known: readonly P[]): P | undefined {
  if (!asks(request, 'spdy/3.1')) throw badRequest('Upgrade request required');
  const header = request.headers['x-stream-protocol-version'] ?? '';
  const offered = String(header)
    .split(',')
    .map((each) => each.trim())
    .filter((each) => each !== '');
  if (offered.length === 0) return undefined;
  const chosen = offered.map((each) => known.find((protocol) => protocol === each)).find((each) => each !== undefined);
  if (chosen) return chosen;
  throw new ApiError(
    'Forbidden',
    `unable to upgrade: unable to negotiate protocol: client supports [${offered.join(' ')}], server accepts [${known.join(' ')}]`,
  );
}

function spdyHeaders(protocol: string): readonly string[] {
  return ['Connection', 'Upgrade', 'Upgrade', 'SPDY/3.1', 'X-Stream-Protocol-Version', protocol];
}

const WEBSOCKET_TEXT_PROTOCOLS = ['binary.k8s.io', 'base64.binary.k8s.io'];

/**
 * Sends the written text as WebSocket messages, as fast as the client reads them. The first message is empty: it shows
 * the client that the connection is open before there is any text. Messages from the client are ignored.
 */
function websocketText(socket: Duplex, { isBase64 }: { readonly isBase64: boolean }): Writable {
  const connection = new WebSocketConnection(socket, { onData: () => undefined });
  const out = new Writable({
    write(chunk: Buffer, _encoding, done) {
      connection.send([isBase64 ? Buffer.from(chunk.toString('base64')) : chunk], { isText: isBase64, done });
    },
    final(done) {
      connection.close();
      done();
    },
    destroy(error, done) {
      connection.destroy();
      done(error);
    },
    // Destroying the socket before the client has closed the connection would lose data.
    autoDestroy: false,
  });
  connection.send([], { isText: isBase64 });
  void connection.closed.then(() => out.destroy());
  return out;
}

/** Limit for the bytes buffered in each direction. */
const BUFFERED_BYTES = 256 * 1024;

/** A byte stream over the binary messages of a WebSocket, whose boundaries mean nothing. */
function websocketTunnel(socket: Duplex): Duplex {
  const incoming = new PassThrough({ highWaterMark: BUFFERED_BYTES });
  const connection = new WebSocketConnection(socket, { onData: ({ bytes }) => written(incoming, bytes) });
  const tunnel = new Duplex({
    highWaterMark: BUFFERED_BYTES,
    read: () => incoming.resume(),
    write: (bytes: Buffer, _encoding, done) => connection.send([bytes], { done }),
    // A frame and its head make one message.
    writev: (chunks, done) =>
      connection.send(
        chunks.map(({ chunk }) => chunk as Buffer),
        { done },
      ),
    final: (done) => {
      connection.close();
      done();
    },
    destroy: (error, done) => {
      connection.destroy();
      done(error);
    },
  });
  incoming.on('data', (bytes: Buffer) => {
    if (!tunnel.push(bytes)) incoming.pause();
  });
  void connection.closed.then(() => {
    if (!tunnel.destroyed) tunnel.push(null);
  });
  return tunnel;
}
