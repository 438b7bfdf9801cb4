/**
 * Who sends a request. This folder turns credentials (client certificates, tokens, passwords) into users; what a user may
 * do is decided elsewhere. Each sort of token is a `TokenSource` of its own; `createAuthenticator` asks them in order.
 */
import type { Clock } from '../../base/clock.ts';
import { ApiError } from '../../base/errors.ts';
import type { User } from '../api.ts';
import type { ClientCertificate } from './certificate.ts';

/** What a request says about its sender. */
export interface Credentials {
  /** Of the connection, which is looked at once. */
  readonly certificate: ClientCertificate | undefined;
  /** The Authorization header, as sent. */
  readonly authorization: string | undefined;
  /** A bearer token that came another way: browsers cannot set headers on a WebSocket. */
  readonly token: string | undefined;
}

/** Throws or rejects with Unauthorized. Answers at once where it can: it runs for every request. */
export type Authenticate = (credentials: Credentials) => User | Promise<User>;

/** Knows one sort of bearer token. */
export interface TokenSource {
  /** Undefined when the token is not of this sort, no longer good, or not meant for this server. */
  userOf(token: string): User | undefined | Promise<User | undefined>;
  /** For tokens that say whom they are for: whose it is, and which of the wanted it is for. Others are for the server. */
  review?(token: string, wanted: readonly string[]): Identified | undefined;
}

/** Whose a token is, and for whom it is meant. */
export interface Identified {
  readonly user: User;
  readonly audiences: readonly string[];
}

/** Whose a bearer token is that somebody else got; undefined for one that is not good, or for none of the audiences. */
export type Identify = (token: string, audiences: readonly string[]) => Promise<Identified | undefined>;

/** Knows user names with their passwords. */
export interface PasswordSource {
  userOf(name: string, password: string): User | undefined;
}

export interface AuthenticatorOptions {
  readonly clock: Clock;
  readonly tokens: readonly TokenSource[];
  readonly passwords?: PasswordSource | undefined;
  /** Whether a request without any credentials is served, as `system:anonymous`. Wrong credentials never are. */
  readonly anonymous: boolean;
}

export const ANONYMOUS: User = Object.freeze({
  name: 'system:anonymous',
  groups: Object.freeze(['system:unauthenticated']),
});

const unauthorized = (cause?: unknown) => new ApiError('Unauthorized', 'Unauthorized', { cause });

/** A user as every source makes it: proven, so a member of `system:authenticated`. */
export function authenticated(user: User): User {
  return Object.freeze({ ...user, groups: Object.freeze([...user.groups, 'system:authenticated']) });
}

/** A verified certificate comes first, then tokens in the order of their sources, then passwords. */
export function createAuthenticator(options: AuthenticatorOptions): Authenticate {
  const { clock, passwords } = options;
  const headers = new SeenHeaders();
  return (credentials) => {
    const { certificate, authorization } = credentials;
    if (certificate) {
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

/** `own`: for whom tokens are that do not say it. Asked for no audience, a token has to be for one of these. */
export function createIdentify(sources: readonly TokenSource[], own: readonly string[]): Identify {
  return async (token, asked) => {
    const wanted = asked.length > 0 ? asked : own;
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

const SEEN = 1024;

/**
 * Clients send the same header over and over, each time as another string. Comparing it with the one that was seen last in
 * its place costs a tenth of taking it apart and hashing its token. Only signed tokens are kept: their ends differ, and how
 * long a comparison takes is of no use to who cannot sign.
 */
class SeenHeaders {
  readonly #seen = new Array<string | undefined>(SEEN).fill(undefined);
  readonly #tokens = new Array<string>(SEEN).fill('');

  tokenIn(authorization: string | undefined): string | undefined {
    if (!authorization?.startsWith('Bearer ey')) return argumentOf('bearer', authorization);
    const end = authorization.length;
    const place = (authorization.charCodeAt(end - 2) * 31 + authorization.charCodeAt(end - 3) * 961) % SEEN;
    if (this.#seen[place] === authorization) return this.#tokens[place];
    const token = argumentOf('bearer', authorization);
    if (token) {
      this.#seen[place] = authorization;
      this.#tokens[place] = token;
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

/** What follows the scheme in the header; schemes are compared without regard to case. */
function argumentOf(scheme: string, authorization: string | undefined): string | undefined {
  if (!authorization || authorization.length <= scheme.length) return undefined;
  const header = authorization.trim();
  if (header[scheme.length] !== ' ' || header.slice(0, scheme.length).toLowerCase() !== scheme) return undefined;
  const rest = header.slice(scheme.length + 1);
  const space = rest.indexOf(' ');
  return (space < 0 ? rest : rest.slice(0, space)) || undefined;
}
