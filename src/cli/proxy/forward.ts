/**
 * Forwards requests and upgrades to a server of the cluster, and to another one when that one is gone. Bodies are streamed. Only
 * requests that have certainly changed nothing are sent again: reads, and those for which there was no connection.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { endToEnd, framingOf, hasBody, headOf } from './headers.ts';
import { Upstream, type UpstreamOptions } from './upstream.ts';

export interface Forwarder {
  /** `path` is what the server gets, query included. */
  request(incoming: IncomingMessage, outgoing: ServerResponse, path: string): void;
  upgrade(incoming: IncomingMessage, socket: Duplex, head: Buffer, path: string): void;
  /** Ends what is open to a server that is gone. */
  drop(server: string): void;
  close(): void;
}

/** The server that is used now. */
export interface ServerChoice {
  readonly server: string;
  /** Resolves with true when another server is used instead of one that has failed. */
  isReplaced(server: string): Promise<boolean>;
}

export interface ForwardOptions extends UpstreamOptions {
  /** Default: the server of the connection alone. */
  readonly servers?: ServerChoice;
}

/** Servers of which each may be gone as well. */
const MAX_ATTEMPTS = 5;

export function createForwarder(options: ForwardOptions): Forwarder {
  const { connection, servers = { server: connection.server, isReplaced: async () => false } } = options;
  const upstreams = new Map<string, Upstream>();

  function current(): Upstream {
    const { server } = servers;
    const known = upstreams.get(server);
    if (known) return known;
    const created = new Upstream(server, options);
    upstreams.set(server, created);
    return created;
  }

  function request(incoming: IncomingMessage, outgoing: ServerResponse, path: string, attempt = 1): void {
    const upstream = current();
    let isConnected = false;
    const call = upstream.open(incoming, path, { own: framingOf(incoming) }, () => {
      isConnected = true;
      // The body was read before if this is another attempt: then it was empty.
      if (incoming.readableEnded) call.end();
      else incoming.pipe(call);
    });
    const abandon = () => call.destroy();
    outgoing.on('close', abandon);
    call.on('response', (response) => {
      try {
        outgoing.writeHead(response.statusCode ?? 502, endToEnd(response.headers));
      } catch {
        // HTTP does not allow the status, or a header.
        call.destroy();
        return answerUnreachable(outgoing, new Error('invalid response'));
      }
      // The headers of a watch are sent before its first event.
      outgoing.flushHeaders();
      response.pipe(outgoing);
      // A watch may end at any time, and clients resume it; other responses would seem complete.
      response.on('error', () => (isWatch(path) ? outgoing.end() : outgoing.destroy()));
    });
    call.on('error', async (error) => {
      if (outgoing.headersSent || outgoing.destroyed) return answerUnreachable(outgoing, error);
      incoming.unpipe(call);
      const isRead = (incoming.method === 'GET' || incoming.method === 'HEAD') && !hasBody(incoming);
      const isRepeatable = (isRead || !isConnected) && attempt < MAX_ATTEMPTS;
      // The server may close an idle connection while a request is being sent.
      const isStale = call.reusedSocket && attempt === 1;
      if (!isRepeatable || !((await servers.isReplaced(upstream.server)) || isStale)) {
        return answerUnreachable(outgoing, error);
      }
      outgoing.off('close', abandon);
      if (!outgoing.destroyed) request(incoming, outgoing, path, attempt + 1);
    });
  }

  function upgrade(incoming: IncomingMessage, socket: Duplex, head: Buffer, path: string, attempt = 1): void {
    const upstream = current();
    const own = { connection: 'Upgrade', upgrade: incoming.headers.upgrade ?? '' };
    let isConnected = false;
    const call = upstream.open(incoming, path, { own, isUpgrade: true }, () => {
      isConnected = true;
    });
    socket.on('error', () => call.destroy());
    call.on('upgrade', (response, upgraded, first) => {
      socket.write(headOf(response));
      pipeBoth(socket, upgraded, { head, first });
    });
    // The upgrade was refused: the response is forwarded, and the connection ends.
    call.on('response', (response) => {
      socket.write(headOf(response));
      response.pipe(socket);
    });
    call.on('error', async () => {
      if (!isConnected && attempt < MAX_ATTEMPTS && (await servers.isReplaced(upstream.server))) {
        upgrade(incoming, socket, head, path, attempt + 1);
      } else socket.end('HTTP/1.1 502 Bad Gateway\r\nConnection: close\r\n\r\n');
    });
    call.end();
  }

  return {
    request: (incoming, outgoing, path) => request(incoming, outgoing, path),
    upgrade: (incoming, socket, head, path) => upgrade(incoming, socket, head, path),
    drop(server) {
      upstreams.get(server)?.close();
      upstreams.delete(server);
    },
    close() {
      for (const each of upstreams.values()) each.close();
    },
  };
}

function isWatch(path: string): boolean {
  const { pathname, searchParams } = new URL(path, 'http://localhost');
  const watch = searchParams.get('watch');
  return watch === 'true' || watch === '1' || /^\/apis?\/(?:[^/]+\/){1,2}watch\//.test(pathname);
}

function pipeBoth(client: Duplex, server: Duplex, { head, first }: { head: Buffer; first: Buffer }): void {
  if (head.length > 0) server.write(head);
  if (first.length > 0) client.write(first);
  client.pipe(server).pipe(client);
  const end = () => {
    client.destroy();
    server.destroy();
  };
  for (const socket of [client, server]) {
    socket.on('error', end);
    socket.on('close', end);
  }
}

function answerUnreachable(outgoing: ServerResponse, error: Error): void {
  if (outgoing.headersSent) return void outgoing.destroy();
  outgoing.writeHead(502, { 'content-type': 'text/plain; charset=utf-8' });
  outgoing.end(`the server cannot be reached: ${(error as NodeJS.ErrnoException).code ?? error.message}\n`);
}
