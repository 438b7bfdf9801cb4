/** How service account tokens are signed, and what is needed to verify them. */
import { createPrivateKey, createPublicKey, type KeyObject } from 'node:crypto';
import type { Random } from '../../../base/random.ts';
import { createTokenIssuer, type TokenIssuer } from '../../../server/access/authn/token-issuer.ts';
import type { Pki } from '../../pki/pki.ts';
import type { IdentityFlags } from './flags.ts';

const DEFAULT_ISSUER = 'https://kubernetes.default.svc.cluster.local';

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

type Flags = Pick<
  IdentityFlags,
  'serviceAccountIssuer' | 'apiAudiences' | 'serviceAccountMaxTokenExpiration' | 'serviceAccountExtendTokenExpiration'
>;

export function issuersOf({
  serviceAccountIssuer = [],
}: Pick<Flags, 'serviceAccountIssuer'>): TokenSettings['issuers'] {
  const [first = DEFAULT_ISSUER, ...others] = serviceAccountIssuer;
  return [first, ...others];
}

export function tokenSettings(flags: Flags, pki: TokenKeys, random: Random): TokenSettings {
  const issuers = issuersOf(flags);
  const [first] = issuers;
  const audiences = flags.apiAudiences ?? issuers;
  const maxLifetime = flags.serviceAccountMaxTokenExpiration;
  const from = ({ serviceAccountKey, formerServiceAccountKeys: former }: TokenKeys) => {
    const key = createPrivateKey(serviceAccountKey);
    const issuer = createTokenIssuer({
      ...{ key, issuer: first, audiences, random },
      maxSeconds: maxLifetime === undefined ? undefined : Math.floor(maxLifetime / 1000),
      extendsExpiration: flags.serviceAccountExtendTokenExpiration,
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
