import type { IncomingMessage } from 'node:http';

/** Headers that request another protocol, and the tokens in `Connection` that name them. */
const UPGRADE_HEADERS = new Set(['upgrade', 'http2-settings']);

/** Returns the request's bytes as received, followed by `rest`, without the headers that request another protocol. */
export function stripUpgrade(request: IncomingMessage, rest: Buffer): Buffer {
  const { method, url, httpVersion, rawHeaders } = request;
  const lines = [`${method} ${url} HTTP/${httpVersion}`];
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i]!;
    const value = rawHeaders[i + 1]!;
    const key = name.toLowerCase();
    if (key === 'connection') lines.push(`${name}: ${withoutUpgradeTokens(value)}`);
    else if (!UPGRADE_HEADERS.has(key)) lines.push(`${name}: ${value}`);
  }
  return Buffer.concat([Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1'), rest]);
}

function withoutUpgradeTokens(connection: string): string {
  return connection
    .split(',')
    .map((token) => token.trim())
    .filter((token) => !UPGRADE_HEADERS.has(token.toLowerCase()))
    .join(', ');
}
