/** Sends one query to one upstream server, over UDP, and over TCP when the response was truncated. */
import { createSocket } from 'node:dgram';
import { connect, isIPv6 } from 'node:net';
import type { Clock } from '../../../base/time/clock.ts';
import { HEADER_BYTES } from '../../../protocols/dns-message/codes.ts';
import { framed, MessageFrames } from '../../../protocols/dns-message/frames.ts';
import { type Question, type Response, readResponse } from '../../../protocols/dns-message/message.ts';

export interface Server {
  readonly address: string;
  readonly port: number;
}

export interface Exchange {
  readonly server: Server;
  readonly id: number;
  readonly question: Question;
  readonly message: Buffer;
  readonly timeoutMs: number;
}

const RESPONSE_AND_TRUNCATED = 0x8200;

/**
 * Resolves with the response. Each query uses its own socket, so that its port is as random as its number: an attacker
 * who cannot read the query must guess both.
 */
export async function exchange(clock: Clock, query: Exchange): Promise<Response> {
  const first = await overUdp(clock, query);
  return (first.flags & RESPONSE_AND_TRUNCATED) === RESPONSE_AND_TRUNCATED ? overTcp(clock, query) : first;
}

function overUdp(clock: Clock, { server, message, timeoutMs, ...asked }: Exchange): Promise<Response> {
  return new Promise((resolve, reject) => {
    const socket = createSocket(isIPv6(server.address) ? 'udp6' : 'udp4');
    let isOpen = true;
    const finish = (settle: () => void) => {
      if (!isOpen) return;
      isOpen = false;
      timer.cancel();
      socket.close();
      settle();
    };
    const timer = clock.timer(timeoutMs, () => finish(() => reject(new Error('no response in time'))));
    socket.on('error', (error) => finish(() => reject(error)));
    socket.on('message', (data) => {
      const response = responseTo(asked, data);
      // Other data may be forged: the true response can still come.
      if (response) finish(() => resolve(response));
    });
    // The socket is connected: the kernel drops datagrams from other addresses, and reports a closed port at once. The
    // event is used because a callback of `connect` is also called with the error of a failed connection.
    socket.once('connect', () => socket.send(message));
    socket.connect(server.port, server.address);
  });
}

function overTcp(clock: Clock, { server, message, timeoutMs, ...asked }: Exchange): Promise<Response> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host: server.address, port: server.port });
    const finish = (settle: () => void) => {
      timer.cancel();
      socket.destroy();
      settle();
    };
    const timer = clock.timer(timeoutMs, () => finish(() => reject(new Error('no response in time'))));
    const frames = new MessageFrames();
    socket.on('error', (error) => finish(() => reject(error)));
    socket.on('close', () => finish(() => reject(new Error('the connection was closed'))));
    socket.on('data', (data) => {
      for (const each of frames.push(data)) {
        const response = responseTo(asked, each);
        if (response) finish(() => resolve(response));
      }
    });
    socket.write(framed(message));
  });
}

/** The response in a message; undefined when it is not one to our query. */
function responseTo({ id, question }: Pick<Exchange, 'id' | 'question'>, message: Buffer): Response | undefined {
  if (message.length < HEADER_BYTES || message.readUInt16BE(0) !== id || (message[2]! & 0x80) === 0) return undefined;
  try {
    const response = readResponse(message);
    const { name, type, class: itsClass } = response.question;
    return name === question.name && type === question.type && itsClass === question.class ? response : undefined;
  } catch {
    return undefined;
  }
}
