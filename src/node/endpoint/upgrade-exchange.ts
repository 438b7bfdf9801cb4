import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import { isApiError } from '../../api/errors.ts';

/** A request to switch protocols. It owns the connection. */
export class UpgradeExchange {
  readonly method: string;
  readonly headers: IncomingHttpHeaders;
  #isAnswered = false;

  constructor(
    { method = '', headers }: IncomingMessage,
    private readonly socket: Duplex,
    head: Buffer,
  ) {
    this.method = method;
    this.headers = headers;
    socket.on('error', () => socket.destroy());
    if (head.length > 0) socket.unshift(head);
  }

  /** Answers with code 101, or 200 for CONNECT, and returns the connection. */
  accept(headers: readonly string[] = []): Duplex {
    this.#isAnswered = true;
    const head = this.method === 'CONNECT' ? '200 Connection Established' : '101 Switching Protocols';
    const lines = headers.map((each, index) => (index % 2 === 0 ? `${each}: ` : `${each}\r\n`)).join('');
    this.socket.write(`HTTP/1.1 ${head}\r\n${lines}\r\n`);
    return this.socket;
  }

  /** Answers with an error, and closes the connection; one that was accepted is only closed. */
  reject(error: unknown): void {
    if (this.#isAnswered) {
      this.socket.destroy();
      return;
    }
    const { code, message } = errorText(error);
    const text = Buffer.from(message);
    this.socket.end(
      `HTTP/1.1 ${code} ${STATUS_CODES[code] ?? ''}\r\nContent-Type: text/plain; charset=utf-8\r\n` +
        `Content-Length: ${text.length}\r\nConnection: close\r\n\r\n${message}`,
    );
  }
}

/** As kubelet, the endpoint answers errors as text. */
export function errorText(error: unknown): { readonly code: number; readonly message: string } {
  if (isApiError(error)) return { code: error.code, message: error.message };
  return { code: 500, message: error instanceof Error ? error.message : String(error) };
}
