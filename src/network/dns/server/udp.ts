/** Answers datagrams. */
import { createSocket, Socket } from 'node:dgram';
import { once } from 'node:events';
import { isIPv6 } from 'node:net';
import type { Logger } from '../../../base/log.ts';
import type { Listening, ListenOn, SendDatagram } from '../../../base/sockets/listening.ts';
import type { Resolver } from './resolver.ts';

export interface ListenOptions {
  /** Port 0: any free port. */
  readonly on: ListenOn;
  readonly resolver: Pick<Resolver, 'respond'>;
  readonly log: Logger;
}

/** Buffer in which datagrams wait while this thread is busy; the kernel drops those that do not fit. */
const RECEIVE_BUFFER_BYTES = 1024 * 1024;
/** The kernel's queue is full: further responses are dropped, as the network would drop them. */
const MAX_UNSENT_BYTES = 4 * 1024 * 1024;

/** Rejects when the port cannot be used. */
export async function listenUdp({ on, resolver, log }: ListenOptions): Promise<Listening> {
  const socket = 'handle' in on ? received(on.handle) : await bind(on);
  let send: SendDatagram = (data, to) => sendBy(socket, data, to);
  let isClosed = false;
  const inProgress = new Set<Promise<void>>();
  socket.on('error', (error) => log.warn('the socket for DNS queries failed', { error: String(error) }));
  socket.on('message', (message, from) => {
    const response = resolver.respond(message, from.address, 'udp');
    if (response instanceof Promise) {
      const sent = response
        .then((bytes) => bytes && send(bytes, from))
        .catch((error) => log.error('a DNS query failed', { error }))
        .finally(() => inProgress.delete(sent)) as Promise<void>;
      inProgress.add(sent);
    } else if (response) send(response, from);
  });
  const close = () =>
    new Promise<void>((resolve) => {
      if (isClosed) return resolve();
      isClosed = true;
      socket.close(() => resolve());
    });
  return {
    port: socket.address().port,
    handle: socket,
    close,
    async release(next) {
      send = next;
      await close();
      await Promise.all(inProgress);
    },
  };
}

async function bind({ address, port }: { readonly address: string; readonly port: number }): Promise<Socket> {
  const family = isIPv6(address) ? 6 : 4;
  const socket = createSocket({
    type: `udp${family}`,
    recvBufferSize: RECEIVE_BUFFER_BYTES,
    // Addresses of datagrams are never names.
    lookup: (host, _, done) => done(null, host, family),
  });
  const listening = once(socket, 'listening');
  socket.bind({ address, port, exclusive: true });
  await listening;
  return socket;
}

function received(handle: unknown): Socket {
  if (handle instanceof Socket) return handle;
  throw new Error('this is no socket for datagrams');
}

/** A client that has gone away is no error. */
export function sendBy(socket: Socket, data: Buffer, { port, address }: { port: number; address: string }): void {
  // Port 0 cannot be sent to: only a forged datagram comes from there.
  if (port === 0) return;
  try {
    if (socket.getSendQueueSize() <= MAX_UNSENT_BYTES) socket.send(data, port, address, ignore);
  } catch {
    // The socket was closed while the query was answered.
  }
}

function ignore(): void {}
