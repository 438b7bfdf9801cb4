import type { IncomingHttpHeaders } from 'node:http';
import { ApiError } from '../../../api/errors.ts';
import type { User } from '../../../api/user.ts';
import type { Clock } from '../../../base/time/clock.ts';
import type { ClientCertificate } from './certificate.ts';
import type { RequestHeaderUser } from './request-headers.ts';

/** The parts of a request that identify its sender. */
export interface Credentials {
  /** Certificate of the connection; read once per connection. */
  readonly certificate: ClientCertificate | undefined;
  /** All headers; undefined when the sender cannot be an authenticating proxy. */
  readonly headers?: IncomingHttpHeaders;
  readonly authorization: string | undefined;
  /** A bearer token from outside the headers: a browser cannot set headers on a WebSocket. */
  readonly token: string | undefined;
}

/** Finds the user. Throws or rejects with Unauthorized. Synchronous if possible, since it runs for every request. */
export type Authenticate = (credentials: Credentials) => User | Promise<User>;

/** Verifies one type of bearer token. */
export interface TokenSource {
  /** Returns the user; undefined if the token is of another type, no longer valid, or not meant for this server. */
  userOf(token: string): User | undefined | Promise<User | undefined>;
  /** For tokens with audiences: returns the token's user, and the requested audiences that the token is meant for. */
  review?(token: string, audiences: readonly string[]): Identified | undefined;
}

/** The user and audiences of a token. */
export interface Identified {
  readonly user: User;
  readonly audiences: readonly string[];
}

/** Finds the user of a token, as for a TokenReview; undefined if it is invalid or meant for none of the audiences. */
export type Identify = (token: string, audiences: readonly string[]) => Promise<Identified | undefined>;

/** How a server authenticates requests, and tokens that it is asked about. */
export interface Authentication {
  readonly authenticate: Authenticate;
  readonly identify: Identify;
}

export interface PasswordSource {
  userOf(name: string, password: string): User | undefined;
}

export interface AuthenticatorOptions {
  readonly clock: Clock;
  readonly tokens: readonly TokenSource[];
  readonly passwords?: PasswordSource | undefined;
  /** Finds the user that an authenticating proxy names; undefined when no proxy is trusted. */
  readonly proxied?: RequestHeaderUser | undefined;
  /** True to serve requests without credentials as `system:anonymous`; invalid credentials are always rejected. */
  readonly anonymous: boolean;
}

export const ANONYMOUS: User = Object.freeze({
  name: 'system:anonymous',
  groups: Object.freeze(['system:unauthenticated']),
});

const unauthorized = (cause?: unknown) => new ApiError('Unauthorized', 'Unauthorized', { cause });

/** For a server that knows no user. */
export const unauthenticated: Authentication = {
  authenticate: () => {
    throw unauthorized();
  },
  identify: async () => undefined,
};

/** Tries the headers of a proxy first, then a verified certificate, then tokens in the order of their sources, then passwords. */
export function createAuthenticator(options: AuthenticatorOptions): Authenticate {
  const { clock, passwords, proxied } = options;
  const headers = new HeaderCache();
  return (credentials) => {
    const { certificate, authorization } = credentials;
    if (certificate) {
      const named = proxied && clock.now() < certificate.expires && proxied(certificate, credentials.headers);
      if (named) return named;
      if (certificate.user && clock.now() < certificate.expires) return certificate.user;
      if (!authorization && !credentials.token) throw unauthorized();
    }
    const token = headers.tokenIn(authorization) ?? credentials.token;
    if (token) return userOfToken(options.tokens, token);
    const pair = passwords && basicCredentials(authorization);
    if (pair) {
      const user = passwords.userOf(pair.name, pair.password);
      if (user) return user;
      throw unauthorized();
    }
    if (!options.anonymous) throw unauthorized();
    return ANONYMOUS;
  };
}

/** `own` are the audiences of tokens that name none, and the ones checked by default. */
export function createIdentify(sources: readonly TokenSource[], own: readonly string[]): Identify {
  return async (token, given) => {
    const wanted = given.length > 0 ? given : own;
    for (const source of sources) {
      if (source.review) {
        const found = source.review(token, wanted);
        if (found) return found;
        continue;
      }
      const user = await source.userOf(token);
      const audiences = own.filter((each) => wanted.includes(each));
      if (user) return audiences.length > 0 ? { user, audiences } : undefined;
    }
    return undefined;
  };
}

function userOfToken(sources: readonly TokenSource[], token: string, from = 0): User | Promise<User> {
  for (let i = from; i < sources.length; i++) {
    const found = sources[i]?.userOf(token);
    if (found instanceof Promise) return found.then((user) => user ?? userOfToken(sources, token, i + 1));
    if (found) return found;
  }
  throw unauthorized();
}

const HEADER_CACHE_SIZE = 1024;
/** Limit for the length of cached headers: anyone may send a long one, and invalid headers are cached, too. */
const MAX_CACHED_HEADER_LENGTH = 4096;

/**
 * Caches Authorization headers and their tokens. Clients send the same header repeatedly, each time as a new string;
 * comparing it with the last one in its slot costs a tenth of parsing it and hashing its token. Only signed tokens are
 * cached: their last characters differ, and the timing of a comparison does not help anyone who cannot sign.
 */
class HeaderCache {
  readonly #headers = new Array<string | undefined>(HEADER_CACHE_SIZE).fill(undefined);
  readonly #tokens = new Array<string>(HEADER_CACHE_SIZE).fill('');

  tokenIn(authorization: string | undefined): string | undefined {
    if (!authorization?.startsWith('Bearer ey')) return argumentOf('bearer', authorization);
    const end = authorization.length;
    const slot = (authorization.charCodeAt(end - 2) * 31 + authorization.charCodeAt(end - 3) * 961) % HEADER_CACHE_SIZE;
    if (this.#headers[slot] === authorization) return this.#tokens[slot];
    const token = argumentOf('bearer', authorization);
    if (token && end <= MAX_CACHED_HEADER_LENGTH) {
      this.#headers[slot] = authorization;
      this.#tokens[slot] = token;
    }
    return token;
  }
}

function basicCredentials(authorization: string | undefined): { name: string; password: string } | undefined {
  const encoded = argumentOf('basic', authorization);
  if (!encoded) return undefined;
  const decoded = Buffer.from(encoded, 'base64').toString('utf8');
  const colon = decoded.indexOf(':');
  return colon < 0 ? undefined : { name: decoded.slice(0, colon), password: decoded.slice(colon + 1) };
}

/** Returns the part of the header after the scheme. Schemes are case-insensitive. */
function argumentOf(scheme: string, authorization: string | undefined): string | undefined {
  if (!authorization || authorization.length <= scheme.length) return undefined;
  const header = authorization.trim();
  if (header[scheme.length] !== ' ' || header.slice(0, scheme.length).toLowerCase() !== scheme) return undefined;
  const rest = header.slice(scheme.length + 1);
  const space = rest.indexOf(' ');
  return (space < 0 ? rest : rest.slice(0, space)) || undefined;
}
