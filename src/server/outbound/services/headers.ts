/** Selects the headers of a request that are forwarded. */
import type { IncomingHttpHeaders } from 'node:http';

/** Headers of a connection instead of the message, and the client's credentials, which are meant for this server. */
const OWN_HEADERS: ReadonlySet<string> = new Set([
  ...['authorization', 'connection', 'content-length', 'expect', 'host', 'http2-settings', 'keep-alive'],
  ...['proxy-authenticate', 'proxy-authorization', 'proxy-connection', 'te', 'trailer', 'transfer-encoding', 'upgrade'],
]);

/** Matches headers with user identities, which only this server sends. CGI treats an underscore like a hyphen. */
const IDENTITY_HEADER = /^(?:x[-_]remote|impersonate)[-_]/;

/** The prefix of a WebSocket subprotocol that carries a bearer token. */
const BEARER_PROTOCOL = 'base64url.bearer.authorization.k8s.io.';

/** Returns the headers of a client that are forwarded to another program. */
export function forwardedHeaders(
  headers: IncomingHttpHeaders,
  isWithheld: (name: string) => boolean = () => false,
): Record<string, string | string[]> {
  const named = new Set((headers.connection ?? '').split(',').map((each) => each.trim().toLowerCase()));
  const forwarded: Record<string, string | string[]> = {};
  for (const [name, value] of Object.entries(headers)) {
    if (value === undefined || OWN_HEADERS.has(name) || name.startsWith(':') || named.has(name)) continue;
    if (IDENTITY_HEADER.test(name) || isWithheld(name)) continue;
    const own = name === 'sec-websocket-protocol' ? withoutToken(String(value)) : value;
    if (own.length > 0) forwarded[name] = own;
  }
  return forwarded;
}

function withoutToken(protocols: string): string {
  return protocols
    .split(',')
    .map((each) => each.trim())
    .filter((each) => !each.startsWith(BEARER_PROTOCOL))
    .join(', ');
}

/** Returns the headers of a response for the client, as names and values. */
export function forwardedResponse(rawHeaders: readonly string[], isUpgrade: boolean): string[] {
  const headers: string[] = [];
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i]!;
    const key = name.toLowerCase();
    const isKept = key === 'content-length' || (isUpgrade && (key === 'connection' || key === 'upgrade'));
    if (isKept || !OWN_HEADERS.has(key)) headers.push(name, rawHeaders[i + 1]!);
  }
  return headers;
}
