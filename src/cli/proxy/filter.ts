/**
 * Which requests a proxy lets through. A page in a browser must not reach it under another name, nor, where browsers let
 * it, from another place: a socket, or a form, asks nobody.
 */
export interface Filter {
  readonly acceptPaths: readonly RegExp[];
  readonly rejectPaths: readonly RegExp[];
  readonly acceptHosts: readonly RegExp[];
  readonly rejectMethods: readonly RegExp[];
}

export interface Asked {
  readonly method: string;
  /** As sent, without the query. */
  readonly path: string;
  /** The Host header. */
  readonly host: string;
  /** The Origin header; only browsers send one. */
  readonly origin?: string | undefined;
}

export function isAccepted({ acceptPaths, rejectPaths, acceptHosts, rejectMethods }: Filter, asked: Asked): boolean {
  const path = decoded(asked.path);
  if (path === undefined || matches(rejectPaths, path) || matches(rejectMethods, asked.method)) return false;
  return matches(acceptPaths, path) && isHost(acceptHosts, asked.host) && isOrigin(acceptHosts, asked.origin);
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

/** What the server would take the path for: an escape must not carry it past a pattern. */
function decoded(path: string): string | undefined {
  try {
    return decodeURIComponent(path);
  } catch {
    // No path has such an escape.
    return undefined;
  }
}

/** Without the port; an IPv6 address with and without its brackets, since patterns are written both ways. */
function hostForms(header: string): string[] {
  const [, bracketed, inner] = /^(\[([^\]]*)\])(?::\d+)?$/.exec(header) ?? [];
  if (bracketed !== undefined) return [bracketed, inner ?? ''];
  return [header.replace(/:\d+$/, '')];
}
