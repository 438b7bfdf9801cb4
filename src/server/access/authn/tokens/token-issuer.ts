import type { Random } from '../../../../base/random.ts';
import { jwtSigner, type SigningKey } from './jwt.ts';

/** Issues service account tokens that are bound to a time, audiences and possibly an object. */
export interface TokenIssuer {
  /** The default audiences of a token. */
  readonly audiences: readonly string[];
  readonly maxSeconds: number | undefined;
  /**
   * True to make a pod's default token, requested by its node, valid for a year instead of an hour, for programs that
   * read their token only once. The token records when it should have been renewed.
   */
  readonly extendsExpiration: boolean;
  issue(token: BoundToken): string;
}

/** An object by name and uid. */
export interface Reference {
  readonly name: string;
  readonly uid: string;
}

export interface BoundToken {
  readonly namespace: string;
  readonly account: Reference;
  readonly audiences: readonly string[];
  /** Current time in seconds since the epoch. */
  readonly now: number;
  readonly seconds: number;
  readonly warnAfter?: number | undefined;
  readonly pod?: Reference | undefined;
  readonly secret?: Reference | undefined;
  /** The node of the pod, for a pod's token. The uid may be unknown. */
  readonly node?: { readonly name: string; readonly uid?: string | undefined } | undefined;
}

export interface TokenIssuerOptions {
  readonly key: SigningKey;
  readonly issuer: string;
  readonly audiences: readonly string[];
  readonly random: Random;
  readonly maxSeconds?: number | undefined;
  readonly extendsExpiration?: boolean | undefined;
}

export function createTokenIssuer(options: TokenIssuerOptions): TokenIssuer {
  const { issuer, audiences, random } = options;
  const sign = jwtSigner(options.key);
  return {
    audiences,
    maxSeconds: options.maxSeconds,
    extendsExpiration: options.extendsExpiration ?? false,
    issue: ({ namespace, account, now, seconds, pod, secret, node, warnAfter, ...token }) =>
      sign({
        aud: token.audiences,
        exp: now + seconds,
        iat: now,
        iss: issuer,
        jti: random.uuid(),
        'kubernetes.io': {
          namespace,
          node,
          pod,
          secret,
          serviceaccount: account,
          warnafter: warnAfter === undefined ? undefined : now + warnAfter,
        },
        nbf: now,
        sub: `system:serviceaccount:${namespace}:${account.name}`,
      }),
  };
}
