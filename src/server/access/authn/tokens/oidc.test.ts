import { createPublicKey, generateKeyPairSync, type KeyObject } from 'node:crypto';
import { beforeEach, describe, expect, it } from 'vitest';
import { silent } from '../../../../base/log.ts';
import { ControlledClock } from '../../../../base/time/clock.ts';
import { jwtSigner, keyIdOf } from './jwt.ts';
import { type OidcOptions, OidcTokens } from './oidc.ts';

const ISSUER = 'https://people.example';
const NOW = Date.parse('2030-01-01T00:00:00Z') / 1000;
const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey;
const ec = generateKeyPairSync('ec', { namedCurve: 'prime256v1' }).privateKey;
const other = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey;
const claims = {
  iss: ISSUER,
  aud: ['qd', 'x'],
  sub: 'u-1',
  email: 'ann@people.example',
  email_verified: true,
  groups: ['dev', 'ops'],
  exp: NOW + 600,
  jti: 'j',
};

let clock: ControlledClock;
let published: readonly KeyObject[];
let fetched: string[];
let configuration: object;
let isDown: boolean;

beforeEach(() => {
  clock = new ControlledClock();
  published = [rsa];
  fetched = [];
  configuration = { issuer: ISSUER, jwks_uri: `${ISSUER}/keys` };
  isDown = false;
});

const jwk = (key: KeyObject) => {
  const pub = createPublicKey(key);
  return { ...pub.export({ format: 'jwk' }), kid: keyIdOf(pub), use: 'sig' };
};

function source(given: Partial<OidcOptions> = {}): OidcTokens {
  return new OidcTokens({
    issuer: ISSUER,
    clientId: 'qd',
    usernameClaim: 'sub',
    usernamePrefix: '',
    groupsClaim: 'groups',
    groupsPrefix: '',
    requiredClaims: new Map(),
    algorithms: ['RS256'],
    async fetchJson(url) {
      fetched.push(url);
      if (isDown) throw new Error('no route');
      return url.endsWith('/keys') ? { keys: published.map(jwk) } : configuration;
    },
    clock,
    log: silent,
    ...given,
  });
}

const token = (given: object = {}, key: KeyObject = rsa) => jwtSigner(key)({ ...claims, ...given });

it('takes users from the configured claims, and fetches the keys once', async () => {
  const tokens = source({ usernameClaim: 'email', usernamePrefix: 'oidc:', groupsPrefix: 'oidc:' });
  expect(await tokens.userOf(token())).toEqual({
    name: 'oidc:ann@people.example',
    groups: ['oidc:dev', 'oidc:ops', 'system:authenticated'],
    extra: { 'authentication.kubernetes.io/credential-id': ['JTI=j'] },
  });
  await tokens.userOf(token({ sub: 'u-2' }));
  expect(fetched).toEqual([`${ISSUER}/.well-known/openid-configuration`, `${ISSUER}/keys`]);
});

it('verifies a cached token synchronously until it expires', async () => {
  const tokens = source();
  const known = token();
  await tokens.userOf(known);
  expect(tokens.userOf(known)).toMatchObject({ name: 'u-1' });
  await clock.advance(600_000);
  expect(await tokens.userOf(known)).toBeUndefined();
});

it('accepts elliptic-curve keys if they are allowed', async () => {
  published = [ec];
  expect(await source().userOf(token({}, ec))).toBeUndefined();
  expect(await source({ algorithms: ['ES256'] }).userOf(token({}, ec))).toMatchObject({ name: 'u-1' });
});

it('fetches keys again for an unknown one, but not repeatedly', async () => {
  const tokens = source();
  await tokens.userOf(token());
  published = [other];
  expect(await tokens.userOf(token({}, other))).toBeUndefined();
  expect(fetched).toHaveLength(2);
  await clock.advance(10_000);
  expect(await tokens.userOf(token({}, other))).toMatchObject({ name: 'u-1' });
  expect(fetched).toHaveLength(4);
  // A key that was removed from the set is no longer trusted.
  expect(await tokens.userOf(token({ sub: 'u-3' }))).toBeUndefined();
});

it('notices revoked keys after an hour', async () => {
  const tokens = source();
  await tokens.userOf(token());
  published = [other];
  await clock.advance(3_600_000);
  expect(await tokens.userOf(token({ exp: NOW + 7200, sub: 'u-9' }))).toBeUndefined();
});

it('shares one fetch among concurrent requests', async () => {
  const tokens = source();
  await Promise.all(['a', 'b', 'c'].map((sub) => tokens.userOf(token({ sub }))));
  expect(fetched).toHaveLength(2);
});

it('rejects tokens while the issuer is unavailable, and recovers', async () => {
  isDown = true;
  const tokens = source();
  expect(await tokens.userOf(token())).toBeUndefined();
  isDown = false;
  await clock.advance(10_000);
  expect(await tokens.userOf(token())).toBeDefined();
});

describe('rejects', () => {
  it.each<[string, object, Partial<OidcOptions>?]>([
    ['for somebody else', { aud: 'other' }],
    ['from another issuer', { iss: 'https://else.example' }],
    ['that is over', { exp: NOW }],
    ['without an end', { exp: undefined }],
    ['that has not begun', { nbf: NOW + 61 }],
    ['without a name', { sub: undefined }],
    ['with an address that nobody has verified', { email_verified: false }, { usernameClaim: 'email' }],
    ['without a claim that is required', {}, { requiredClaims: new Map([['hd', 'people.example']]) }],
    ['with groups that are none', { groups: { a: 1 } }],
  ])('a token %s', async (_, given, options) => {
    expect(await source(options).userOf(token(given))).toBeUndefined();
  });

  it('a token of a key that the issuer does not have', async () => {
    expect(await source().userOf(token({}, other))).toBeUndefined();
  });

  it('an issuer whose configuration names another', async () => {
    configuration = { issuer: 'https://else.example', jwks_uri: `${ISSUER}/keys` };
    expect(await source().userOf(token())).toBeUndefined();
  });

  it('a string that is not a token', async () => {
    expect(await source().userOf('ey.x')).toBeUndefined();
    expect(await source().userOf('opaque')).toBeUndefined();
    expect(fetched).toEqual([]);
  });
});

const publishing = (keys: readonly unknown[]) =>
  source({
    algorithms: ['RS256', 'RS512', 'PS512'],
    fetchJson: async (url) => (url.endsWith('/keys') ? { keys } : configuration),
  });
const small = generateKeyPairSync('rsa', { modulusLength: 512 }).privateKey;

it('an issuer that publishes unusual keys does not make the tokens of its other keys fail', async () => {
  const odd = [
    null,
    'text',
    {},
    [],
    { kty: 'RSA', n: 'AQ', e: 'AQAB' },
    { kty: 'oct', k: 'AA' },
    { kty: {}, use: 'sig' },
  ];
  const keys = [...odd, { ...jwk(small), kid: undefined }, jwk(rsa)];
  expect(await publishing(keys).userOf(token())).toMatchObject({ name: 'u-1' });
  // A salted signature of this hash does not fit into the small key.
  const [, body, signature] = token().split('.');
  const head = Buffer.from(JSON.stringify({ alg: 'PS512' })).toString('base64url');
  expect(await publishing(keys).userOf(`${head}.${body}.${signature}`)).toBeUndefined();
});

it('an issuer that publishes unusual keys has at most a hundred usable keys, of up to 8,192 bits', async () => {
  const unrelated = jwk(other);
  const many = Array.from({ length: 100 }, () => ({ ...unrelated, kid: undefined }));
  expect(await publishing([...many.slice(1), jwk(rsa)]).userOf(token())).toMatchObject({ name: 'u-1' });
  expect(await publishing([...many, jwk(rsa)]).userOf(token())).toBeUndefined();
  const huge = { ...jwk(rsa), n: Buffer.alloc(1_025, 0xff).toString('base64url') };
  expect(await publishing([huge]).userOf(token())).toBeUndefined();
});
