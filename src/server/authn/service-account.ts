import { type KeyObject, verify } from 'node:crypto';
import type { Clock } from '../../base/clock.ts';
import type { User } from '../api.ts';
import { authenticated, type TokenSource } from './authenticator.ts';

/** What a token stands for, and what must still exist, with these uids, for it to be good. */
export interface TokenSubject {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  /** The token Secret that a lasting token is kept in. */
  readonly secret?: string | undefined;
  /** The pod that a bound token was made for. */
  readonly pod?: { readonly name: string; readonly uid: string } | undefined;
}

export interface ServiceAccountTokenOptions {
  /** Public keys that sign tokens, the one in use first. */
  readonly keys: readonly KeyObject[];
  /** Issuers that are believed: `kubernetes/serviceaccount` for lasting tokens, an address for bound ones. */
  readonly issuers: readonly string[];
  /** A token that names audiences must name one of these. */
  readonly audiences: readonly string[];
  readonly clock: Clock;
  /** Asked on every use, so that a deleted account's token ends at once. */
  readonly stillExists: (subject: TokenSubject) => boolean | Promise<boolean>;
}

interface Verified {
  readonly subject: TokenSubject;
  readonly user: User;
  /** Milliseconds since the epoch. */
  readonly notBefore: number;
  readonly expires: number;
}

/** How many verified tokens are remembered: checking a signature takes as long as serving several requests. */
const REMEMBERED = 10_000;

/** Signed tokens (ES256 or RS256) of service accounts, in both shapes: kept in a Secret, or bound to a time and a pod. */
export function serviceAccountTokens(options: ServiceAccountTokenOptions): TokenSource {
  const { clock, stillExists } = options;
  const known = new Map<string, Verified>();

  const remember = (token: string): Verified | undefined => {
    let verified = known.get(token);
    if (!verified) {
      verified = verifyToken(token, options);
      if (!verified) return undefined;
      for (const oldest of known.keys()) {
        if (known.size < REMEMBERED) break;
        known.delete(oldest);
      }
      known.set(token, verified);
    }
    return verified;
  };

  return {
    userOf(token) {
      if (!token.startsWith('ey')) return undefined;
      const verified = remember(token);
      if (!verified) return undefined;
      const now = clock.now();
      if (now >= verified.expires || now < verified.notBefore) return undefined;
      const exists = stillExists(verified.subject);
      if (typeof exists === 'boolean') return exists ? verified.user : undefined;
      return exists.then((yes) => (yes ? verified.user : undefined));
    },
  };
}

function verifyToken(token: string, options: ServiceAccountTokenOptions): Verified | undefined {
  const parts = token.split('.');
  if (parts.length !== 3) return undefined;
  const [header, payload, signature] = parts as [string, string, string];
  const { alg } = jsonOf(header) ?? {};
  const claims = jsonOf(payload);
  if (!claims || !options.issuers.includes(claims.iss)) return undefined;
  const signed = Buffer.from(`${header}.${payload}`);
  const bytes = Buffer.from(signature, 'base64url');
  if (!options.keys.some((key) => isSignedBy(key, alg, signed, bytes))) return undefined;
  const audiences = claims.aud === undefined ? undefined : [claims.aud].flat();
  if (audiences && !audiences.some((audience) => options.audiences.includes(audience))) return undefined;
  const subject = subjectOf(claims);
  if (!subject) return undefined;
  return {
    subject,
    user: userOf(subject, claims),
    notBefore: secondsOf(claims.nbf) ?? 0,
    expires: secondsOf(claims.exp) ?? Number.POSITIVE_INFINITY,
  };
}

/** The algorithm follows from the key; a token that claims another one is not believed. */
function isSignedBy(key: KeyObject, alg: unknown, signed: Buffer, signature: Buffer): boolean {
  switch (key.asymmetricKeyType) {
    case 'ec':
      return alg === 'ES256' && verify('sha256', signed, { key, dsaEncoding: 'ieee-p1363' }, signature);
    case 'rsa':
      return alg === 'RS256' && verify('sha256', signed, key, signature);
    default:
      return false;
  }
}

function jsonOf(part: string): Record<string, any> | undefined {
  try {
    const value = JSON.parse(Buffer.from(part, 'base64url').toString('utf8'));
    return typeof value === 'object' && value !== null ? value : undefined;
  } catch {
    return undefined;
  }
}

function secondsOf(value: unknown): number | undefined {
  return typeof value === 'number' ? value * 1000 : undefined;
}

const LASTING = 'kubernetes.io/serviceaccount/';

function subjectOf(claims: Record<string, any>): TokenSubject | undefined {
  const bound = claims['kubernetes.io'];
  const subject: Partial<TokenSubject> = bound
    ? {
        namespace: bound.namespace,
        name: bound.serviceaccount?.name,
        uid: bound.serviceaccount?.uid,
        secret: bound.secret?.name,
        pod: bound.pod,
      }
    : {
        namespace: claims[`${LASTING}namespace`],
        name: claims[`${LASTING}service-account.name`],
        uid: claims[`${LASTING}service-account.uid`],
        secret: claims[`${LASTING}secret.name`],
      };
  const { namespace, name, uid, secret } = subject;
  if (![namespace, name, uid].every((part) => typeof part === 'string' && part)) return undefined;
  if (secret !== undefined && typeof secret !== 'string') return undefined;
  if (claims.sub !== `system:serviceaccount:${namespace}:${name}`) return undefined;
  return subject as TokenSubject;
}

function userOf({ namespace, name, uid, pod }: TokenSubject, claims: Record<string, any>): User {
  const extra: Record<string, string[]> = {};
  if (typeof claims.jti === 'string') extra['authentication.kubernetes.io/credential-id'] = [`JTI=${claims.jti}`];
  if (pod) {
    extra['authentication.kubernetes.io/pod-name'] = [pod.name];
    extra['authentication.kubernetes.io/pod-uid'] = [pod.uid];
  }
  return authenticated({
    name: `system:serviceaccount:${namespace}:${name}`,
    uid,
    groups: ['system:serviceaccounts', `system:serviceaccounts:${namespace}`],
    ...(Object.keys(extra).length > 0 ? { extra } : {}),
  });
}
