import type { KeyObject } from 'node:crypto';
import type { JsonDocument } from '../../../../api/json-document.ts';
import { algorithmOf, keyIdOf } from './jwt.ts';

const CONFIGURATION_PATH = '/.well-known/openid-configuration';
export const KEYS_PATH = '/openid/v1/jwks';

export interface IssuerOptions {
  readonly issuer: string;
  readonly keysUrl: string;
  /** Public keys, including replaced ones. */
  readonly keys: readonly KeyObject[];
}

/** The OpenID Connect discovery documents that let others verify service account tokens. */
export function issuerDocuments({ issuer, keysUrl, keys }: IssuerOptions): readonly JsonDocument[] {
  const set = keys.map((key) => ({
    use: 'sig',
    ...key.export({ format: 'jwk' }),
    kid: keyIdOf(key),
    alg: algorithmOf(key),
  }));
  const configuration = {
    issuer,
    jwks_uri: keysUrl,
    response_types_supported: ['id_token'],
    subject_types_supported: ['public'],
    id_token_signing_alg_values_supported: [...new Set(set.map(({ alg }) => alg))].sort(),
  };
  return [
    { path: CONFIGURATION_PATH, type: 'application/json', content: configuration },
    { path: KEYS_PATH, type: 'application/jwk-set+json', content: { keys: set } },
  ];
}
