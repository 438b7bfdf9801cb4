/** Sends one request on a new TCP connection, and reads the messages that answer it. */
import { connect } from 'node:net';
import { framed, MessageFrames } from '../../../../protocols/dns-message/frames.ts';
import { DnsError } from '../../provider.ts';

export interface DnsAddress {
  readonly host: string;
  readonly port: number;
}

/**
 * Sends a request, and passes on each message of the response until `receive` returns true. Rejects with the error of
 * `receive`, with the reason of the signal, or with a DnsError when the connection fails.
 */
export function converse(
  { host, port }: DnsAddress,
  request: Buffer,
  receive: (message: Buffer) => boolean,
  signal: AbortSignal,
): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) return reject(signal.reason);
    const socket = connect({ host, port });
    const frames = new MessageFrames();
    const finish = (settle: () => void) => {
      signal.removeEventListener('abort', abort);
      socket.destroy();
      settle();
    };
    const abort = () => finish(() => reject(signal.reason));
    const fail = (cause: Error) =>
      finish(() => reject(new DnsError('Unavailable', `${host}:${port} does not answer: ${cause.message}`, { cause })));
    signal.addEventListener('abort', abort, { once: true });
    socket.on('error', fail);
    socket.on('close', () => fail(new Error('the connection was closed')));
    socket.on('data', (data) => {
      try {
        if (frames.push(data).some(receive)) finish(resolve);
      } catch (error) {
        finish(() => reject(error));
      }
    });
    socket.write(framed(request));
  });
}
