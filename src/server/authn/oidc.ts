/**
 * Tokens that people get from somebody else (OpenID Connect). The issuer's keys are fetched when they are first needed,
 * kept, and fetched again when they are old or a token names one that is not among them, but not more often than its
 * owner could bear.
 */
import { createPublicKey, type KeyObject } from 'node:crypto';
import type { Clock } from '../../base/clock.ts';
import type { Logger } from '../../base/log.ts';
import type { User } from '../api.ts';
import { authenticated, type TokenSource } from './authenticator.ts';
import { type Claims, isSignedBy, type Jwt, millisecondsOf, parseJwt } from './jwt.ts';
import { Remembered } from './remembered.ts';

export interface OidcOptions {
  /** Its address, as tokens name it. */
  readonly issuer: string;
  /** For whom tokens have to be. */
  readonly clientId: string;
  readonly usernameClaim: string;
  /** Put before names and groups, so that the issuer's people are told from the cluster's own. */
  readonly usernamePrefix: string;
  readonly groupsClaim: string | undefined;
  readonly groupsPrefix: string;
  readonly requiredClaims: ReadonlyMap<string, string>;
  readonly algorithms: readonly string[];
  /** The JSON at an address. */
  readonly fetch: (url: string) => Promise<unknown>;
  readonly clock: Clock;
  readonly log: Logger;
}

interface Key {
  readonly id: string | undefined;
  readonly key: KeyObject;
}

interface Verified {
  readonly user: User;
  readonly notBefore: number;
  readonly expires: number;
}

const REMEMBERED = 10_000;
/** Milliseconds between two fetches that unknown keys cause, and after which keys are old. */
const REST = 10_000;
const OLD = 3_600_000;
const LEEWAY = 60_000;

export class OidcTokens implements TokenSource {
  readonly #options: OidcOptions;
  readonly #known = new Remembered<Verified>(REMEMBERED);
  #keys: readonly Key[] = [];
  #fetched = Number.NEGATIVE_INFINITY;
  #fetching: Promise<void> | undefined;

  constructor(options: OidcOptions) {
    this.#options = options;
  }

  userOf(token: string): User | undefined | Promise<User | undefined> {
    if (!token.startsWith('ey')) return undefined;
    const known = this.#known.get(token);
    if (known) return this.#current(token, known);
    const jwt = parseJwt(token);
    if (!jwt || jwt.claims.iss !== this.#options.issuer) return undefined;
    return this.#verify(token, jwt);
  }

  #current(token: string, { user, notBefore, expires }: Verified): User | undefined {
    const now = this.#options.clock.now();
    if (now < notBefore) return undefined;
    if (now < expires) return user;
    this.#known.forget(token);
    return undefined;
  }

  async #verify(token: string, jwt: Jwt): Promise<User | undefined> {
    const { clientId, algorithms, clock } = this.#options;
    const { claims } = jwt;
    if (!algorithms.includes(jwt.alg) || ![claims.aud].flat().includes(clientId)) return undefined;
    const expires = millisecondsOf(claims.exp) ?? 0;
    if (clock.now() >= expires || !(await this.#isSigned(jwt))) return undefined;
    const user = userOf(claims, this.#options);
    if (!user) return undefined;
    const verified = { user, expires, notBefore: (millisecondsOf(claims.nbf) ?? 0) - LEEWAY };
    this.#known.set(token, verified);
    return this.#current(token, verified);
  }

  async #isSigned(jwt: Jwt): Promise<boolean> {
    const { clock } = this.#options;
    const signs = () => this.#keys.some(({ id, key }) => (!jwt.kid || !id || jwt.kid === id) && isSignedBy(jwt, key));
    if (clock.now() - this.#fetched < OLD && signs()) return true;
    if (clock.now() - this.#fetched < REST && !this.#fetching) return false;
    await this.#fetchKeys();
    return signs();
  }

  /** Those who ask at the same time wait for the same answer. A failure leaves the keys that are there. */
  #fetchKeys(): Promise<void> {
    const { issuer, fetch, clock, log } = this.#options;
    this.#fetching ??= (async () => {
      try {
        const about = await fetch(`${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`);
        const { issuer: named, jwks_uri: address } = about as Claims;
        if (named !== issuer) throw new Error(`it calls itself ${JSON.stringify(named)}`);
        if (typeof address !== 'string') throw new Error('it does not say where its keys are');
        this.#keys = keysIn(await fetch(address));
      } catch (error) {
        log.warn('the keys of the OIDC issuer cannot be fetched', { issuer, error });
      } finally {
        this.#fetched = clock.now();
        this.#fetching = undefined;
      }
    })();
    return this.#fetching;
  }
}

function keysIn(set: unknown): Key[] {
  const { keys } = set as Claims;
  if (!Array.isArray(keys)) throw new Error('its key set has no keys');
  return keys.flatMap((jwk) => {
    if (jwk?.use !== undefined && jwk.use !== 'sig') return [];
    try {
      return [
        { id: typeof jwk.kid === 'string' ? jwk.kid : undefined, key: createPublicKey({ key: jwk, format: 'jwk' }) },
      ];
    } catch {
      // A key of a sort that is not known here signs nothing that is believed here.
      return [];
    }
  });
}

function userOf(claims: Claims, options: OidcOptions): User | undefined {
  const { usernameClaim, usernamePrefix, groupsClaim, groupsPrefix, requiredClaims } = options;
  for (const [claim, value] of requiredClaims) if (claims[claim] !== value) return undefined;
  const name = claims[usernameClaim];
  if (typeof name !== 'string' || !name) return undefined;
  // An address that the issuer has not seen an answer from could be anybody's.
  if (usernameClaim === 'email' && claims.email_verified !== undefined && claims.email_verified !== true)
    return undefined;
  const groups = groupsClaim === undefined ? [] : groupsIn(claims[groupsClaim]);
  if (!groups) return undefined;
  const extra =
    typeof claims.jti === 'string'
      ? { 'authentication.kubernetes.io/credential-id': [`JTI=${claims.jti}`] }
      : undefined;
  return authenticated({
    name: usernamePrefix + name,
    groups: groups.map((group) => groupsPrefix + group),
    ...(extra ? { extra } : {}),
  });
}

/** One group, several, or none; undefined for what is no list of names. */
function groupsIn(value: unknown): readonly string[] | undefined {
  if (value === undefined || value === null) return [];
  const list = [value].flat();
  return list.every((each) => typeof each === 'string') ? list : undefined;
}
