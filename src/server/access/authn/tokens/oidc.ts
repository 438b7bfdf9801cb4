/**
 * ID tokens of an OpenID Connect issuer. Its keys are fetched on first use and cached. They are fetched again when they
 * are old, or when a token names an unknown one, but at most every ten seconds.
 */
import { createPublicKey, type KeyObject } from 'node:crypto';
import type { User } from '../../../../api/user.ts';
import { isTree } from '../../../../base/json/tree.ts';
import type { Tools } from '../../../../base/tools.ts';
import { authenticated } from '../authenticated.ts';
import type { TokenSource } from '../authenticator.ts';
import { type Claims, isSignedBy, type Jwt, millisecondsOf, parseJwt } from './jwt.ts';
import { verifiedTokens } from './verified-tokens.ts';

export interface OidcOptions extends Pick<Tools, 'clock' | 'log'> {
  /** The issuer's URL, as in the `iss` claim. */
  readonly issuer: string;
  /** The required audience of tokens. */
  readonly clientId: string;
  readonly usernameClaim: string;
  /** Prefix of user names, which separates the issuer's users from the cluster's own. */
  readonly usernamePrefix: string;
  readonly groupsClaim: string | undefined;
  readonly groupsPrefix: string;
  readonly requiredClaims: ReadonlyMap<string, string>;
  readonly algorithms: readonly string[];
  readonly fetchJson: (url: string) => Promise<unknown>;
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

/** Minimum time between fetches because of unknown keys. */
const MIN_FETCH_INTERVAL_MS = 10_000;
const MAX_KEY_AGE_MS = 3_600_000;
const CLOCK_LEEWAY_MS = 60_000;
/** Limit for keys, with each of which a token may have to be verified. Issuers have a handful; others are ignored. */
const MAX_KEYS = 100;
/** Limit for a key parameter in base64: 8,192 bits. The time to verify grows with its square. */
const MAX_KEY_PARAMETER_LENGTH = 1_366;

export class OidcTokens implements TokenSource {
  readonly #verified = verifiedTokens<Verified>();
  #keys: readonly Key[] = [];
  #fetchedAt = Number.NEGATIVE_INFINITY;
  #fetching: Promise<void> | undefined;

  constructor(private readonly options: OidcOptions) {}

  userOf(token: string): User | undefined | Promise<User | undefined> {
    if (!token.startsWith('ey')) return undefined;
    const verified = this.#verified.get(token);
    if (verified) return this.#current(token, verified);
    const jwt = parseJwt(token);
    if (!jwt || jwt.claims.iss !== this.options.issuer) return undefined;
    return this.#verify(token, jwt);
  }

  #current(token: string, { user, notBefore, expires }: Verified): User | undefined {
    const now = this.options.clock.now();
    if (now < notBefore) return undefined;
    if (now < expires) return user;
    this.#verified.delete(token);
    return undefined;
  }

  async #verify(token: string, jwt: Jwt): Promise<User | undefined> {
    const { clientId, algorithms, clock } = this.options;
    const { claims } = jwt;
    if (!algorithms.includes(jwt.alg) || ![claims.aud].flat().includes(clientId)) return undefined;
    const expires = millisecondsOf(claims.exp) ?? 0;
    if (clock.now() >= expires || !(await this.#isSigned(jwt))) return undefined;
    const user = userOf(claims, this.options);
    if (!user) return undefined;
    const verified = { user, expires, notBefore: (millisecondsOf(claims.nbf) ?? 0) - CLOCK_LEEWAY_MS };
    this.#verified.set(token, verified);
    return this.#current(token, verified);
  }

  async #isSigned(jwt: Jwt): Promise<boolean> {
    const { clock } = this.options;
    const signs = () => this.#keys.some(({ id, key }) => (!jwt.kid || !id || jwt.kid === id) && isSignedBy(jwt, key));
    if (clock.now() - this.#fetchedAt < MAX_KEY_AGE_MS && signs()) return true;
    if (clock.now() - this.#fetchedAt < MIN_FETCH_INTERVAL_MS && !this.#fetching) return false;
    await this.#fetchKeys();
    return signs();
  }

  /** Fetches the keys. Concurrent calls share one fetch. If it fails, the current keys stay. */
  #fetchKeys(): Promise<void> {
    const { issuer, fetchJson, clock, log } = this.options;
    this.#fetching ??= (async () => {
      try {
        const configuration = await fetchJson(`${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`);
        const { issuer: named, jwks_uri: keysUrl } = configuration as Claims;
        if (named !== issuer) throw new Error(`its configuration names another issuer: ${JSON.stringify(named)}`);
        if (typeof keysUrl !== 'string') throw new Error('its configuration has no jwks_uri');
        this.#keys = keysIn(await fetchJson(keysUrl));
      } catch (error) {
        log.warn('the keys of the OIDC issuer cannot be fetched', { issuer, error });
      } finally {
        this.#fetchedAt = clock.now();
        this.#fetching = undefined;
      }
    })();
    return this.#fetching;
  }
}

function keysIn(set: unknown): Key[] {
  const { keys } = set as Claims;
  if (!Array.isArray(keys)) throw new Error('its key set has no keys');
  const signing = keys.filter((jwk) => isTree(jwk) && (jwk.use === undefined || jwk.use === 'sig'));
  return signing.slice(0, MAX_KEYS).flatMap((jwk) => {
    if ([jwk.n, jwk.e].some(isTooLong)) return [];
    try {
      return [
        { id: typeof jwk.kid === 'string' ? jwk.kid : undefined, key: createPublicKey({ key: jwk, format: 'jwk' }) },
      ];
    } catch {
      // Keys of unsupported types cannot have signed a supported token.
      return [];
    }
  });
}

function isTooLong(parameter: unknown): boolean {
  return typeof parameter === 'string' && parameter.length > MAX_KEY_PARAMETER_LENGTH;
}

function userOf(claims: Claims, options: OidcOptions): User | undefined {
  const { usernameClaim, usernamePrefix, groupsClaim, groupsPrefix, requiredClaims } = options;
  for (const [claim, value] of requiredClaims) if (claims[claim] !== value) return undefined;
  const name = claims[usernameClaim];
  if (typeof name !== 'string' || !name) return undefined;
  // An unverified email address could belong to anybody.
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
    extra,
  });
}

/** Returns the groups of a claim; undefined if it is neither a string nor a list of strings. */
function groupsIn(value: unknown): readonly string[] | undefined {
  if (value === undefined || value === null) return [];
  const list = [value].flat();
  return list.every((each) => typeof each === 'string') ? list : undefined;
}
