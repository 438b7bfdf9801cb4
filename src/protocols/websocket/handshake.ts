import { createHash } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';

/** 16 bytes in base64. */
const KEY = /^[+/0-9A-Za-z]{22}==$/;
const MAGIC = '258EAFA5-E914-47DA-95CA-C5AB0DC85B11';

/** The subprotocols that a client offers, in its order of preference. */
export function offeredProtocols(headers: IncomingHttpHeaders): string[] {
  const header = headers['sec-websocket-protocol'] ?? '';
  return header
    .split(',')
    .map((protocol) => protocol.trim())
    .filter((protocol) => protocol !== '');
}

/** The headers of a 101 response; undefined when the request is not a valid WebSocket handshake. */
export function handshakeHeaders(headers: IncomingHttpHeaders, protocol: string | undefined): string[] | undefined {
  const key = headers['sec-websocket-key'];
  if (!key || !KEY.test(key) || headers['sec-websocket-version'] !== '13') return undefined;
  const accept = createHash('sha1')
    .update(key + MAGIC)
    .digest('base64');
  const head = ['Upgrade', 'websocket', 'Connection', 'Upgrade', 'Sec-WebSocket-Accept', accept];
  return protocol ? [...head, 'Sec-WebSocket-Protocol', protocol] : head;
}
