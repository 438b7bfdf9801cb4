/** Sockets that listen, and can be left to another process without a connection or a datagram lost. */
import type { Socket as DatagramSocket } from 'node:dgram';
import { Server } from 'node:net';

/** What one process can send to another. The one that gets it has the same queue of connections or datagrams. */
export type ListeningHandle = Server | DatagramSocket;

/** An address that is free, or a socket that another process listens on. */
export type ListenOn = { readonly address: string; readonly port: number } | { readonly handle: ListeningHandle };

/** Sends a datagram from a socket that another process has by now. */
export type SendDatagram = (data: Buffer, to: { readonly port: number; readonly address: string }) => void;

export interface Listening {
  readonly port: number;
  readonly handle: ListeningHandle;
  /** Closes everything at once. */
  close(): Promise<void>;
  /** Takes nothing new, and resolves when what was begun has ended. Responses to datagrams leave by `send`. */
  release(send: SendDatagram): Promise<void>;
}

/** Resolves when the connections have ended: unlike `close` of an HTTP server, it leaves those alone that wait for a request. */
export function stopAccepting(server: Server): Promise<void> {
  return new Promise((resolve) => Server.prototype.close.call(server, () => resolve()));
}
