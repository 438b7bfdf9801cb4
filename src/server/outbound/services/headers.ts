/** Which headers of a request are passed on. */
import type { IncomingHttpHeaders } from 'node:http';

/** Of one connection, not of the message. The client's credentials are meant for this server. */
const OWN_HEADERS: ReadonlySet<string> = new Set([
  ...['authorization', 'connection', 'content-length', 'expect', 'host', 'http2-settings', 'keep-alive'],
  ...['proxy-authenticate', 'proxy-authorization', 'proxy-connection', 'te', 'trailer', 'transfer-encoding', 'upgrade'],
]);

/**
 * Names that say who a user is: only this server may send them, and those of impersonation are meant for it. Programs that
 * follow CGI take an underscore for a hyphen.
 */
const IDENTITY_HEADER = /^(?:x[-_]remote|impersonate)[-_]/;

/** The prefix of a WebSocket protocol that carries a bearer token. */
const BEARER_PROTOCOL = 'base64url.bearer.authorization.k8s.io.';

/** The headers of a client that another program gets. */
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

/** The headers of a response that a client gets, as names and values. */
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
