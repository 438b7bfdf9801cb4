/** JSON Web Tokens (compact JWS with JSON claims): parsing, verifying and signing. */
import { constants, createHash, createPublicKey, type KeyObject, sign, verify } from 'node:crypto';

export type Claims = Readonly<Record<string, any>>;

export interface Jwt {
  readonly alg: string;
  readonly kid: string | undefined;
  readonly claims: Claims;
  /** The signed bytes and their signature. */
  readonly signed: Buffer;
  readonly signature: Buffer;
}

interface Algorithm {
  readonly key: 'rsa' | 'ec' | 'ed25519';
  readonly hash: string | null;
  /** The curve, for `ec`. */
  readonly curve?: string;
  /** True when the padding is salted (PSS), for `rsa`. */
  readonly isSalted?: boolean;
}

const rsa = (hash: string): Algorithm => ({ key: 'rsa', hash });
const salted = (hash: string): Algorithm => ({ key: 'rsa', hash, isSalted: true });
const ec = (hash: string, curve: string): Algorithm => ({ key: 'ec', hash, curve });

const algorithms: ReadonlyMap<string, Algorithm> = new Map([
  ['RS256', rsa('sha256')],
  ['RS384', rsa('sha384')],
  ['RS512', rsa('sha512')],
  ['PS256', salted('sha256')],
  ['PS384', salted('sha384')],
  ['PS512', salted('sha512')],
  ['ES256', ec('sha256', 'prime256v1')],
  ['ES384', ec('sha384', 'secp384r1')],
  ['ES512', ec('sha512', 'secp521r1')],
  ['EdDSA', { key: 'ed25519', hash: null }],
]);

export const algorithmNames: readonly string[] = [...algorithms.keys()];

/** Parses a token without verifying it. Returns undefined if it is not a JWT. */
export function parseJwt(token: string): Jwt | undefined {
  const [head = '', body = '', signature = '', ...more] = token.split('.');
  if (more.length > 0 || !head || !body || !signature) return undefined;
  const header = jsonOf(head);
  const claims = jsonOf(body);
  // Critical header parameters must be understood, and we support none.
  if (!claims || typeof header?.alg !== 'string' || header.crit !== undefined) return undefined;
  return {
    alg: header.alg,
    kid: typeof header.kid === 'string' ? header.kid : undefined,
    claims,
    signed: Buffer.from(`${head}.${body}`),
    signature: Buffer.from(signature, 'base64url'),
  };
}

/** Verifies a token's signature. The algorithm must match the type of the key, whatever the token claims. */
export function isSignedBy({ alg, signed, signature }: Jwt, key: KeyObject): boolean {
  const algorithm = algorithms.get(alg);
  if (!algorithm || key.asymmetricKeyType !== algorithm.key) return false;
  if (algorithm.curve && key.asymmetricKeyDetails?.namedCurve !== algorithm.curve) return false;
  try {
    return verify(algorithm.hash, signed, { key, ...settingsOf(algorithm) }, signature);
  } catch {
    // A key that is too small for the hash, or unusable otherwise, has signed nothing.
    return false;
  }
}

/** A private key, or a function that creates it when the first token is signed. */
export type SigningKey = KeyObject | (() => KeyObject);

/** Signs claims with a private key. The header contains the id of its public key. */
export function jwtSigner(key: SigningKey): (claims: Claims) => string {
  if (typeof key !== 'function') return signerWith(key);
  let signer: ((claims: Claims) => string) | undefined;
  return (claims) => {
    signer ??= signerWith(key());
    return signer(claims);
  };
}

function signerWith(key: KeyObject): (claims: Claims) => string {
  const publicKey = createPublicKey(key);
  const alg = algorithmOf(publicKey);
  const algorithm = algorithms.get(alg)!;
  const head = part({ alg, kid: keyIdOf(publicKey) });
  return (claims) => {
    const signed = `${head}.${part(claims)}`;
    const signature = sign(algorithm.hash, Buffer.from(signed), { key, ...settingsOf(algorithm) });
    return `${signed}.${signature.toString('base64url')}`;
  };
}

export function algorithmOf(key: KeyObject): string {
  const curve = key.asymmetricKeyDetails?.namedCurve;
  for (const [name, algorithm] of algorithms) {
    if (algorithm.key === key.asymmetricKeyType && algorithm.curve === curve) return name;
  }
  throw new Error(`tokens cannot be signed with a key of type ${key.asymmetricKeyType}`);
}

export function keyIdOf(publicKey: KeyObject): string {
  return createHash('sha256')
    .update(publicKey.export({ type: 'spki', format: 'der' }))
    .digest('base64url');
}

/** Converts a claim with a time in seconds to milliseconds. */
export function millisecondsOf(value: unknown): number | undefined {
  return typeof value === 'number' ? value * 1000 : undefined;
}

function settingsOf({ key, isSalted }: Algorithm): object {
  if (isSalted) return { padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: constants.RSA_PSS_SALTLEN_DIGEST };
  // JWS concatenates the two numbers of a signature; OpenSSL's default is DER.
  return key === 'ec' ? { dsaEncoding: 'ieee-p1363' } : {};
}

function part(content: object): string {
  return Buffer.from(JSON.stringify(content)).toString('base64url');
}

function jsonOf(text: string): Record<string, any> | undefined {
  try {
    const value = JSON.parse(Buffer.from(text, 'base64url').toString('utf8'));
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : undefined;
  } catch {
    // Not a token.
    return undefined;
  }
}
