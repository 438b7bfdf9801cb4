/** How service account tokens are signed, and what is needed to verify them. */
import { createPrivateKey, createPublicKey, type KeyObject } from 'node:crypto';
import type { Random } from '../../../base/random.ts';
import type { MintToken } from '../../../controllers/identity/service-account/observe.ts';
import { jwtSigner } from '../../../server/authn/jwt.ts';
import { LASTING_ISSUER } from '../../../server/authn/service-account.ts';
import { createTokenIssuer, type TokenIssuer } from '../../../server/authn/token-issuer.ts';
import type { Pki } from '../../pki/pki.ts';
import type { IdentityFlags } from './flags.ts';

const DEFAULT_ISSUER = 'https://kubernetes.default.svc.cluster.local';

export interface TokenSettings {
  /** The first one is used for new tokens. */
  readonly issuers: readonly [string, ...string[]];
  readonly audiences: readonly string[];
  /** Public keys, the current one first. */
  readonly keys: readonly KeyObject[];
  readonly bound: TokenIssuer;
}

type Flags = Pick<
  IdentityFlags,
  'serviceAccountIssuer' | 'apiAudiences' | 'serviceAccountMaxTokenExpiration' | 'serviceAccountExtendTokenExpiration'
>;

export function tokenSettings(
  flags: Flags,
  pki: Pick<Pki, 'serviceAccountKey' | 'formerServiceAccountKeys'>,
  random: Random,
): TokenSettings {
  const [first = DEFAULT_ISSUER, ...others] = flags.serviceAccountIssuer ?? [];
  const issuers: TokenSettings['issuers'] = [first, ...others];
  const audiences = flags.apiAudiences ?? issuers;
  const key = createPrivateKey(pki.serviceAccountKey);
  const longest = flags.serviceAccountMaxTokenExpiration;
  return {
    issuers,
    audiences,
    keys: [createPublicKey(key), ...pki.formerServiceAccountKeys.map((pem) => createPublicKey(pem))],
    bound: createTokenIssuer({
      ...{ key, issuer: first, audiences, random },
      longest: longest === undefined ? undefined : Math.floor(longest / 1000),
      extends: flags.serviceAccountExtendTokenExpiration,
    }),
  };
}

/** Signs tokens that are kept in Secrets and are valid as long as the Secret and the account exist. `key` is PEM. */
export function tokenSigner(key: string): MintToken {
  const sign = jwtSigner(createPrivateKey(key));
  return async ({ namespace, name, uid, secretName }) =>
    sign({
      iss: LASTING_ISSUER,
      'kubernetes.io/serviceaccount/namespace': namespace,
      'kubernetes.io/serviceaccount/secret.name': secretName,
      'kubernetes.io/serviceaccount/service-account.name': name,
      'kubernetes.io/serviceaccount/service-account.uid': uid,
      sub: `system:serviceaccount:${namespace}:${name}`,
    });
}
