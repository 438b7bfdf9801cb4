/** Signs the tokens of service accounts that are kept in Secrets: they last as long as the Secret and the account do. */
import { createHash, createPrivateKey, createPublicKey, sign } from 'node:crypto';
import type { MintToken } from '../../controllers/service-account/observe.ts';

/** Whom tokens in Secrets are from. */
export const LASTING_ISSUER = 'kubernetes/serviceaccount';

/** `key` is PEM, ECDSA P-256. */
export function tokenSigner(key: string): MintToken {
  const privateKey = createPrivateKey(key);
  const publicKey = createPublicKey(privateKey).export({ type: 'spki', format: 'der' });
  const header = { alg: 'ES256', kid: createHash('sha256').update(publicKey).digest('base64url') };
  return async ({ namespace, name, uid, secretName }) => {
    const claims = {
      iss: LASTING_ISSUER,
      'kubernetes.io/serviceaccount/namespace': namespace,
      'kubernetes.io/serviceaccount/secret.name': secretName,
      'kubernetes.io/serviceaccount/service-account.name': name,
      'kubernetes.io/serviceaccount/service-account.uid': uid,
      sub: `system:serviceaccount:${namespace}:${name}`,
    };
    const signed = `${part(header)}.${part(claims)}`;
    const signature = sign('sha256', Buffer.from(signed), { key: privateKey, dsaEncoding: 'ieee-p1363' });
    return `${signed}.${signature.toString('base64url')}`;
  };
}

function part(content: object): string {
  return Buffer.from(JSON.stringify(content)).toString('base64url');
}
