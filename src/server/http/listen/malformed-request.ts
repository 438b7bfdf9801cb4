import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import type { Clock } from '../../../base/clock.ts';
import { nextReply } from './pipelined-requests.ts';

/** Milliseconds that the client has for reading why it is turned away. */
const LINGERING = 1_000;

const WHY: Readonly<Record<string, readonly [line: string, reason: string, message: string]>> = {
  HPE_HEADER_OVERFLOW: [
    '431 Request Header Fields Too Large',
    'RequestHeaderFieldsTooLarge',
    'the headers are too large',
  ],
  ERR_HTTP_REQUEST_TIMEOUT: ['408 Request Timeout', 'RequestTimeout', 'the request did not arrive in time'],
};
const MALFORMED = ['400 Bad Request', 'BadRequest', 'the request is not HTTP'] as const;

const answered = new WeakSet<Duplex>();

/** The client has its answer and still sends: whatever becomes of that, nothing more is said to it. */
export function answeredEarly(request: IncomingMessage): void {
  const { socket } = request;
  answered.add(socket);
  request.once('end', () => answered.delete(socket));
}

/**
 * Answers what never became a request. What the client still sends is read and thrown away for a moment: closed at once,
 * the connection would be reset under it, and the answer lost.
 */
export function answerBroken(error: NodeJS.ErrnoException, socket: Duplex, clock: Clock): void {
  const before = nextReply(socket);
  const goesOn = before?.headersSent && !before.writableEnded;
  if (!socket.writable || goesOn || answered.has(socket) || error.code === 'ECONNRESET') {
    socket.destroy();
    return;
  }
  // The parser has given up, and must see no more of it.
  socket.removeAllListeners('data');
  socket.on('data', () => undefined);
  socket.on('error', () => undefined);
  // Of several requests, those that came whole are answered first; a half one gets this as its answer.
  if (before?.req.complete) before.once('close', () => answerBroken(error, socket, clock));
  else turnAway(error, socket, clock);
}

function turnAway(error: NodeJS.ErrnoException, socket: Duplex, clock: Clock): void {
  const [line, reason, message] = WHY[error.code ?? ''] ?? MALFORMED;
  const code = Number(line.slice(0, 3));
  const status = { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Failure', message, reason, code };
  const body = JSON.stringify(status);
  const head = `HTTP/1.1 ${line}\r\nConnection: close\r\nContent-Type: application/json\r\nContent-Length: ${body.length}`;
  socket.end(`${head}\r\n\r\n${body}`);
  const timer = clock.timer(LINGERING, () => socket.destroy());
  socket.once('end', () => socket.destroy());
  socket.once('close', () => timer.cancel());
}
