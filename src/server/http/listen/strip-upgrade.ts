import type { IncomingMessage } from 'node:http';

/** Headers that ask for another protocol, and the words in `Connection` that point at them. */
const ASKING = new Set(['upgrade', 'http2-settings']);

/** A request's bytes as they came, with `head` behind its headers, but for what asks for another protocol. */
export function withoutUpgrade(request: IncomingMessage, head: Buffer): Buffer {
  const { method, url, httpVersion, rawHeaders } = request;
  const lines = [`${method} ${url} HTTP/${httpVersion}`];
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i]!;
    const value = rawHeaders[i + 1]!;
    const key = name.toLowerCase();
    if (key === 'connection') lines.push(`${name}: ${otherWords(value)}`);
    else if (!ASKING.has(key)) lines.push(`${name}: ${value}`);
  }
  return Buffer.concat([Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1'), head]);
}

function otherWords(connection: string): string {
  return connection
    .split(',')
    .map((word) => word.trim())
    .filter((word) => !ASKING.has(word.toLowerCase()))
    .join(', ');
}
