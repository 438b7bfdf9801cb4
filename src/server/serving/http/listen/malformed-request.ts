/** Responds to bytes that the HTTP/1 parser rejects: malformed, too large, or too slow. */
import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import type { Clock } from '../../../../base/time/clock.ts';
import { currentResponse, discardInput } from '../node-internals.ts';

/** Time for the client to read the error before its connection is closed. */
const LINGER_MS = 1_000;

const ERRORS: Readonly<Record<string, readonly [line: string, reason: string, message: string]>> = {
  HPE_HEADER_OVERFLOW: [
    '431 Request Header Fields Too Large',
    'RequestHeaderFieldsTooLarge',
    'the headers are too large',
  ],
  ERR_HTTP_REQUEST_TIMEOUT: ['408 Request Timeout', 'RequestTimeout', 'the request did not arrive in time'],
};
const MALFORMED = ['400 Bad Request', 'BadRequest', 'the request is not HTTP'] as const;

const answeredEarly = new WeakSet<Duplex>();

/** Records that a request was answered before its body was complete: an error in the rest gets no second response. */
export function noteAnsweredEarly(request: IncomingMessage): void {
  const { socket } = request;
  answeredEarly.add(socket);
  request.once('end', () => answeredEarly.delete(socket));
}

/**
 * Responds to a parser error and closes the connection. Further data from the client is read and discarded for a
 * moment: closing at once would reset the connection, and the client would never see the response.
 */
export function answerMalformed(error: NodeJS.ErrnoException, socket: Duplex, clock: Clock): void {
  const current = currentResponse(socket);
  const isStreaming = current?.headersSent && !current.writableEnded;
  if (!socket.writable || isStreaming || answeredEarly.has(socket) || error.code === 'ECONNRESET') {
    socket.destroy();
    return;
  }
  discardInput(socket);
  socket.on('error', () => undefined);
  // Complete pipelined requests get their responses first; an incomplete one gets this error as its response.
  if (current?.req.complete) current.once('close', () => answerMalformed(error, socket, clock));
  else sendAndClose(error, socket, clock);
}

function sendAndClose(error: NodeJS.ErrnoException, socket: Duplex, clock: Clock): void {
  const [line, reason, message] = ERRORS[error.code ?? ''] ?? MALFORMED;
  const code = Number(line.slice(0, 3));
  const status = { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Failure', message, reason, code };
  const body = JSON.stringify(status);
  const head = `HTTP/1.1 ${line}\r\nConnection: close\r\nContent-Type: application/json\r\nContent-Length: ${body.length}`;
  socket.end(`${head}\r\n\r\n${body}`);
  const timer = clock.timer(LINGER_MS, () => socket.destroy());
  socket.once('end', () => socket.destroy());
  socket.once('close', () => timer.cancel());
}
