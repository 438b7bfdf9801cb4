/**
 * Which requests the proxy accepts. A web page must not reach it through DNS rebinding (checked by the Host header) or from
 * another origin (checked by the Origin header): browsers let WebSockets and forms go to any address.
 */
export interface Filter {
  readonly acceptPaths: readonly RegExp[];
  readonly rejectPaths: readonly RegExp[];
  readonly acceptHosts: readonly RegExp[];
  readonly rejectMethods: readonly RegExp[];
}

export interface ProxiedRequest {
  readonly method: string;
  /** As sent, without the query. */
  readonly path: string;
  /** The Host header. */
  readonly host: string;
  /** The Origin header; only browsers send one. */
  readonly origin?: string | undefined;
}

export function isAccepted(
  { acceptPaths, rejectPaths, acceptHosts, rejectMethods }: Filter,
  request: ProxiedRequest,
): boolean {
  const path = decoded(request.path);
  if (path === undefined || matches(rejectPaths, path) || matches(rejectMethods, request.method)) return false;
  return matches(acceptPaths, path) && isHost(acceptHosts, request.host) && isOrigin(acceptHosts, request.origin);
}

function isHost(accepted: readonly RegExp[], host: string): boolean {
  return hostForms(host).some((form) => matches(accepted, form));
}

function isOrigin(accepted: readonly RegExp[], origin: string | undefined): boolean {
  if (origin === undefined) return true;
  const [, host] = /^https?:\/\/(.*)$/.exec(origin) ?? [];
  return host !== undefined && isHost(accepted, host);
}

function matches(patterns: readonly RegExp[], text: string): boolean {
  return patterns.some((pattern) => pattern.test(text));
}

/** The path as the server reads it, so that an escape cannot carry it past a pattern; undefined when it is malformed. */
function decoded(path: string): string | undefined {
  try {
    return decodeURIComponent(path);
  } catch {
    return undefined;
  }
}

/** The host without its port; an IPv6 address with and without brackets, since patterns are written both ways. */
function hostForms(header: string): string[] {
  const [, bracketed, inner] = /^(\[([^\]]*)\])(?::\d+)?$/.exec(header) ?? [];
  if (bracketed !== undefined) return [bracketed, inner ?? ''];
  return [header.replace(/:\d+$/, '')];
}
