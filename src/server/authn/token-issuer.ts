import type { KeyObject } from 'node:crypto';
import type { Random } from '../../base/random.ts';
import { jwtSigner } from './jwt.ts';

/** Makes tokens for service accounts that are bound to a time, an audience and, perhaps, an object. */
export interface TokenIssuer {
  /** For whom a token is when nobody says it. */
  readonly audiences: readonly string[];
  /** Seconds that a token lasts at most. */
  readonly longest: number | undefined;
  /**
   * Whether a pod's usual token, asked for by its node, lasts a year in place of an hour, with a mark after which its
   * use is noted: for programs that read their token once.
   */
  readonly extends: boolean;
  issue(token: BoundToken): string;
}

/** An object by its name and identity. */
export interface Reference {
  readonly name: string;
  readonly uid: string;
}

export interface BoundToken {
  readonly namespace: string;
  readonly account: Reference;
  readonly audiences: readonly string[];
  /** Seconds since the epoch. */
  readonly now: number;
  readonly seconds: number;
  readonly warnAfter?: number | undefined;
  readonly pod?: Reference | undefined;
  readonly secret?: Reference | undefined;
  /** Of a pod's token: where the pod runs, which may be unknown but for its name. */
  readonly node?: { readonly name: string; readonly uid?: string | undefined } | undefined;
}

export interface TokenIssuerOptions {
  readonly key: KeyObject;
  /** Its address. */
  readonly issuer: string;
  readonly audiences: readonly string[];
  readonly random: Random;
  readonly longest?: number | undefined;
  readonly extends?: boolean | undefined;
}

export function createTokenIssuer(options: TokenIssuerOptions): TokenIssuer {
  const { issuer, audiences, random } = options;
  const sign = jwtSigner(options.key);
  return {
    audiences,
    longest: options.longest,
    extends: options.extends ?? false,
    issue: ({ namespace, account, now, seconds, pod, secret, node, warnAfter, ...token }) =>
      sign({
        aud: token.audiences,
        exp: now + seconds,
        iat: now,
        iss: issuer,
        jti: random.uuid(),
        'kubernetes.io': {
          namespace,
          ...(node ? { node } : {}),
          ...(pod ? { pod } : {}),
          ...(secret ? { secret } : {}),
          serviceaccount: account,
          ...(warnAfter === undefined ? {} : { warnafter: now + warnAfter }),
        },
        nbf: now,
        sub: `system:serviceaccount:${namespace}:${account.name}`,
      }),
  };
}
