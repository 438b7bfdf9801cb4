/** How service account tokens are signed, and what is needed to verify them. */
import { createPrivateKey, createPublicKey, type KeyObject } from 'node:crypto';
import type { Random } from '../../base/random.ts';
import { createTokenIssuer, type TokenIssuer } from '../../server/access/authn/tokens/token-issuer.ts';
import type { Pki } from '../keys/pki.ts';

export const DEFAULT_ISSUER = 'https://kubernetes.default.svc.cluster.local';

export interface TokenSettings {
  /** The first one is used for new tokens. */
  readonly issuers: readonly [string, ...string[]];
  readonly audiences: readonly string[];
  /** Public keys, the current one first. Another list when they have changed. */
  readonly keys: readonly KeyObject[];
  readonly bound: TokenIssuer;
  /** Signs with, and accepts, the keys of `pki` from now on. */
  use(pki: TokenKeys): void;
}

type TokenKeys = Pick<Pki, 'serviceAccountKey' | 'formerServiceAccountKeys'>;

export interface TokenOptions {
  /** Issuers whose tokens are accepted, of which the first issues new ones; default: that of every cluster. */
  readonly issuers?: readonly string[] | undefined;
  /** Default: the issuers. */
  readonly audiences?: readonly string[] | undefined;
  /** Maximum lifetime of a bound token. */
  readonly maxLifetimeMs?: number | undefined;
  /** True when tokens of pods last a year, for programs that do not read them again. */
  readonly extendsExpiration?: boolean | undefined;
}

export function issuersOf(issuers: readonly string[] = []): TokenSettings['issuers'] {
  const [first = DEFAULT_ISSUER, ...others] = issuers;
  return [first, ...others];
}

export function tokenSettings(options: TokenOptions, pki: TokenKeys, random: Random): TokenSettings {
  const issuers = issuersOf(options.issuers);
  const [first] = issuers;
  const { audiences = issuers, maxLifetimeMs } = options;
  const from = ({ serviceAccountKey, formerServiceAccountKeys: former }: TokenKeys) => {
    const key = createPrivateKey(serviceAccountKey);
    const issuer = createTokenIssuer({
      key,
      issuer: first,
      audiences,
      random,
      maxSeconds: maxLifetimeMs === undefined ? undefined : Math.floor(maxLifetimeMs / 1000),
      extendsExpiration: options.extendsExpiration ?? false,
    });
    return { issuer, keys: [createPublicKey(key), ...former.map((pem) => createPublicKey(pem))] };
  };
  let current = from(pki);
  return {
    issuers,
    audiences,
    get keys() {
      return current.keys;
    },
    bound: { ...current.issuer, issue: (token) => current.issuer.issue(token) },
    use(next) {
      current = from(next);
    },
  };
}
