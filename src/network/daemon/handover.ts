/**
 * Hands the sockets of a daemon to its successor, the heir, which is its child because Node passes sockets between a
 * process and its children. They talk over Node's channel for that, as releases with the same `HANDOVER_VERSION`
 * understand it.
 */
import type { ChildProcess } from 'node:child_process';
import type { ListeningHandle, SendDatagram } from '../../base/sockets/listening.ts';
import type { Door } from './calls.ts';

/** Message from the heir. */
export type ToPredecessor =
  /** The heir can be reached by the program. */
  | { readonly type: 'ready'; readonly socket: string }
  | { readonly type: 'take'; readonly door: Door }
  /** The heir is complete: from now on, the predecessor takes nothing new. */
  | { readonly type: 'complete' };

/** Message to the heir. */
export type ToHeir =
  | { readonly type: 'doors'; readonly doors: readonly Door[] }
  /** The door comes with it; without one, it is not there any more. */
  | { readonly type: 'door'; readonly door: Door }
  /** A response to a query that the other one had begun to answer. */
  | {
      readonly type: 'datagram';
      readonly door: Door;
      readonly data: string;
      readonly to: { readonly port: number; readonly address: string };
    };

/** Channel to a child process, or of this process to its parent. */
export interface Channel<Out, In> {
  send(message: Out, handle?: ListeningHandle): void;
  onMessage(listener: (message: In, handle: ListeningHandle | undefined) => void): void;
  /** The other end is gone. */
  onEnd(listener: () => void): void;
  close(): void;
}

/** Sends datagrams from a socket that the heir has. */
export function sendByHeir(channel: Pick<Channel<ToHeir, ToPredecessor>, 'send'>, door: Door): SendDatagram {
  return (data, { port, address }) => {
    channel.send({ type: 'datagram', door, data: data.toString('base64'), to: { port, address } });
  };
}

/**
 * Opens a channel to `other`: this process, whose parent is the other end, or a child process. Messages sent after the
 * other end is gone are lost.
 */
export function channelTo<Out extends object, In>(other: ChildProcess | NodeJS.Process): Channel<Out, In> {
  // The two have the same methods, in types that have nothing in common.
  const end = other as ChildProcess;
  return {
    send(message, handle) {
      if (end.connected) end.send(message, handle, () => undefined);
    },
    onMessage(listener) {
      end.on('message', (message, handle) => listener(message as In, handle as ListeningHandle | undefined));
    },
    onEnd: (listener) => void end.on('disconnect', listener),
    close() {
      if (end.connected) end.disconnect();
    },
  };
}
