import { createPublicKey, generateKeyPairSync, type KeyObject } from 'node:crypto';
import { expect, it } from 'vitest';
import { issuerDocuments } from './issuer-documents.ts';
import { algorithmOf, isSignedBy, jwtSigner, parseJwt } from './jwt.ts';

const ec = (namedCurve: string) => generateKeyPairSync('ec', { namedCurve }).privateKey;
const keys: Record<string, KeyObject> = {
  RS256: generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey,
  ES256: ec('prime256v1'),
  ES384: ec('secp384r1'),
  ES512: ec('secp521r1'),
  EdDSA: generateKeyPairSync('ed25519').privateKey,
};

it.each(Object.entries(keys))('verifies a %s signature only with its own public key', (name, key) => {
  const jwt = parseJwt(jwtSigner(key)({ a: 1 }))!;
  expect(jwt).toMatchObject({ alg: name, claims: { a: 1 } });
  for (const [other, each] of Object.entries(keys)) {
    expect(isSignedBy(jwt, createPublicKey(each))).toBe(other === name);
  }
});

it('creates a key that is given as a function once, with the first token', () => {
  let made = 0;
  const { privateKey, publicKey } = generateKeyPairSync('ed25519');
  const sign = jwtSigner(() => {
    made++;
    return privateKey;
  });
  expect(made).toBe(0);
  for (const sub of ['a', 'b']) {
    expect(isSignedBy(parseJwt(sign({ sub }))!, publicKey)).toBe(true);
    expect(sign({ sub })).toBe(jwtSigner(privateKey)({ sub }));
  }
  expect(made).toBe(1);
});

it('rejects keys of other types for signing', () => {
  expect(() => algorithmOf(generateKeyPairSync('x25519').publicKey)).toThrow('x25519');
});

it('publishes the public keys of an issuer, and nothing of the private ones', () => {
  const documents = issuerDocuments({
    issuer: 'https://issuer.example',
    keysUrl: 'https://issuer.example/openid/v1/jwks',
    keys: [keys.ES256!, keys.RS256!].map((key) => createPublicKey(key)),
  });
  expect(documents[0]?.content).toEqual({
    issuer: 'https://issuer.example',
    jwks_uri: 'https://issuer.example/openid/v1/jwks',
    response_types_supported: ['id_token'],
    subject_types_supported: ['public'],
    id_token_signing_alg_values_supported: ['ES256', 'RS256'],
  });
  const { keys: shown } = documents[1]!.content as { keys: Record<string, string>[] };
  expect(shown.map(({ alg, kty, use }) => [alg, kty, use])).toEqual([
    ['ES256', 'EC', 'sig'],
    ['RS256', 'RSA', 'sig'],
  ]);
  const verified = shown.map((jwk) => createPublicKey({ key: jwk, format: 'jwk' } as never));
  expect(isSignedBy(parseJwt(jwtSigner(keys.ES256!)({}))!, verified[0]!)).toBe(true);
  expect(shown.some((jwk) => 'd' in jwk)).toBe(false);
});

it.each<[string, object]>([
  ['names something critical', { alg: 'ES256', crit: ['exp'], exp: 1 }],
  ['names no algorithm', { kid: 'x' }],
])('rejects a token whose header %s', (_what, header) => {
  const part = (content: object) => Buffer.from(JSON.stringify(content)).toString('base64url');
  expect(parseJwt(`${part(header)}.${part({})}.AA`)).toBeUndefined();
  expect(parseJwt(`${part({ alg: 'ES256' })}.${part({})}.AA`)).toBeDefined();
});
