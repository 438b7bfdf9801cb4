import { jwtSigner, type SigningKey } from './jwt.ts';
import { LEGACY_ISSUER } from './service-account-tokens.ts';

export interface LegacyTokenRequest {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly secretName: string;
}

/** Signs tokens that are stored in Secrets and are valid as long as the Secret and the account exist. */
export function legacyTokenSigner(key: SigningKey): (request: LegacyTokenRequest) => Promise<string> {
  const sign = jwtSigner(key);
  return async ({ namespace, name, uid, secretName }) =>
    sign({
      iss: LEGACY_ISSUER,
      'kubernetes.io/serviceaccount/namespace': namespace,
      'kubernetes.io/serviceaccount/secret.name': secretName,
      'kubernetes.io/serviceaccount/service-account.name': name,
      'kubernetes.io/serviceaccount/service-account.uid': uid,
      sub: `system:serviceaccount:${namespace}:${name}`,
    });
}
