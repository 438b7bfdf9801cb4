/** Listening sockets that can be handed over to another process without losing a connection or a datagram. */
import type { Socket as DatagramSocket } from 'node:dgram';
import { Server } from 'node:net';

/** A socket that can be sent to another process. The receiver shares its queue of connections or datagrams. */
export type ListeningHandle = Server | DatagramSocket;

/** A free address, or a socket that another process listens on. */
export type ListenOn = { readonly address: string; readonly port: number } | { readonly handle: ListeningHandle };

/** Sends a datagram from a socket that was handed over to another process. */
export type SendDatagram = (data: Buffer, to: { readonly port: number; readonly address: string }) => void;

export interface Listening {
  readonly port: number;
  readonly handle: ListeningHandle;
  /** Closes everything at once. */
  close(): Promise<void>;
  /** Stops accepting, and resolves when pending work has ended. Responses to datagrams are sent with `send`. */
  release(send: SendDatagram): Promise<void>;
}

/** Stops accepting, and resolves when the connections have ended. Leaves idle connections of HTTP open. */
export function stopAccepting(server: Server): Promise<void> {
  return new Promise((resolve) => Server.prototype.close.call(server, () => resolve()));
}
