/** Answers datagrams. */
import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { isIPv6 } from 'node:net';
import type { Logger } from '../../../base/log.ts';
import type { Resolver } from './resolver.ts';

export interface ListenOptions {
  readonly address: string;
  /** 0: any free port. */
  readonly port: number;
  readonly resolver: Pick<Resolver, 'respond'>;
  readonly log: Logger;
}

export interface Listening {
  readonly port: number;
  close(): Promise<void>;
}

/** Datagrams wait here while this thread is busy; the kernel drops what does not fit. */
const RECEIVE_BUFFER_BYTES = 1024 * 1024;
/** The kernel's queue is full: further responses are dropped, as the network would drop them. */
const MAX_UNSENT_BYTES = 4 * 1024 * 1024;

/** Rejects when the port cannot be used. */
export async function listenUdp({ address, port, resolver, log }: ListenOptions): Promise<Listening> {
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
  socket.on('error', (error) => log.warn('the socket for DNS queries failed', { error: String(error) }));
  socket.on('message', (message, from) => {
    const response = resolver.respond(message, from.address, 'udp');
    if (response instanceof Promise) {
      response
        .then((bytes) => bytes && send(socket, bytes, from))
        .catch((error) => log.error('a DNS query failed', { error }));
    } else if (response) send(socket, response, from);
  });
  return {
    port: socket.address().port,
    close: () => new Promise((resolve) => socket.close(() => resolve())),
  };
}

/** A client that has gone away is no error. */
function send(socket: Socket, response: Buffer, { port, address }: { port: number; address: string }): void {
  // Port 0 cannot be sent to: only a forged datagram comes from there.
  if (port === 0 || socket.getSendQueueSize() > MAX_UNSENT_BYTES) return;
  try {
    socket.send(response, port, address, ignore);
  } catch {
    // The socket was closed while the query was answered.
  }
}

function ignore(): void {}
