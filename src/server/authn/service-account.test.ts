import { generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { ControlledClock } from '../../base/clock.ts';
import type { TokenSource } from './authenticator.ts';
import { serviceAccountTokens, type TokenSubject } from './service-account.ts';

const keys = generateKeyPairSync('ec', { namedCurve: 'prime256v1' });
const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 });
const other = generateKeyPairSync('ec', { namedCurve: 'prime256v1' });
const ISSUER = 'https://kubernetes.default.svc';
const NOW = Date.parse('2030-01-01T00:00:00Z') / 1000;

function signed(
  claims: object,
  key: KeyObject = keys.privateKey,
  alg = key.asymmetricKeyType === 'rsa' ? 'RS256' : 'ES256',
) {
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
  const body = `${part({ alg, typ: 'JWT' })}.${part(claims)}`;
  const options = key.asymmetricKeyType === 'rsa' ? key : ({ key, dsaEncoding: 'ieee-p1363' } as const);
  return `${body}.${sign('sha256', Buffer.from(body), options).toString('base64url')}`;
}

const lasting = {
  iss: 'kubernetes/serviceaccount',
  sub: 'system:serviceaccount:default:builder',
  'kubernetes.io/serviceaccount/namespace': 'default',
  'kubernetes.io/serviceaccount/service-account.name': 'builder',
  'kubernetes.io/serviceaccount/service-account.uid': 'uid-1',
  'kubernetes.io/serviceaccount/secret.name': 'builder-token-x',
};

const bound = {
  iss: ISSUER,
  aud: ['api'],
  sub: 'system:serviceaccount:default:builder',
  jti: 'id-1',
  nbf: NOW,
  exp: NOW + 3600,
  'kubernetes.io': {
    namespace: 'default',
    serviceaccount: { name: 'builder', uid: 'uid-1' },
    pod: { name: 'p', uid: 'uid-2' },
  },
};

let clock: ControlledClock;
let stillExists: ReturnType<typeof vi.fn<(subject: TokenSubject) => boolean | Promise<boolean>>>;
let tokens: TokenSource;

beforeEach(() => {
  clock = new ControlledClock();
  stillExists = vi.fn(() => true);
  tokens = serviceAccountTokens({
    keys: [keys.publicKey, rsa.publicKey],
    issuers: ['kubernetes/serviceaccount', ISSUER],
    audiences: ['api'],
    clock,
    stillExists,
  });
});

it('knows the account of a lasting token', () => {
  expect(tokens.userOf(signed(lasting))).toEqual({
    name: 'system:serviceaccount:default:builder',
    uid: 'uid-1',
    groups: ['system:serviceaccounts', 'system:serviceaccounts:default', 'system:authenticated'],
  });
  expect(stillExists).toHaveBeenCalledWith({
    namespace: 'default',
    name: 'builder',
    uid: 'uid-1',
    secret: 'builder-token-x',
  });
});

it('knows the account and the pod of a bound token', () => {
  expect(tokens.userOf(signed(bound, rsa.privateKey))).toMatchObject({
    name: 'system:serviceaccount:default:builder',
    extra: {
      'authentication.kubernetes.io/credential-id': ['JTI=id-1'],
      'authentication.kubernetes.io/pod-name': ['p'],
      'authentication.kubernetes.io/pod-uid': ['uid-2'],
    },
  });
});

it('ends with its time', async () => {
  const token = signed(bound);
  expect(tokens.userOf(token)).toBeDefined();
  await clock.advance(3600_000);
  expect(tokens.userOf(token)).toBeUndefined();
});

it('begins with its time', async () => {
  const token = signed({ ...bound, nbf: NOW + 60 });
  expect(tokens.userOf(token)).toBeUndefined();
  await clock.advance(60_000);
  expect(tokens.userOf(token)).toBeDefined();
});

it('ends with what it was made for, also when that has to be looked up elsewhere', async () => {
  const token = signed(lasting);
  expect(tokens.userOf(token)).toBeDefined();
  stillExists.mockReturnValue(false);
  expect(tokens.userOf(token)).toBeUndefined();
  stillExists.mockResolvedValue(true);
  expect(await tokens.userOf(token)).toBeDefined();
  stillExists.mockResolvedValue(false);
  expect(await tokens.userOf(token)).toBeUndefined();
});

describe('is not believed', () => {
  const good = signed(lasting);
  const [head, body, signature] = good.split('.') as [string, string, string];
  const none = Buffer.from('{"alg":"none"}').toString('base64url');
  it.each([
    ['signed by another key', signed(lasting, other.privateKey)],
    ['without a signature', `${head}.${body}.`],
    ['with no algorithm', `${none}.${body}.`],
    ['with another algorithm than the key has', signed(lasting, keys.privateKey, 'RS256')],
    ['with a broken signature', `${head}.${body}.AAAA${signature.slice(4)}`],
    [
      'with other claims',
      `${head}.${Buffer.from(JSON.stringify({ ...lasting, x: 1 })).toString('base64url')}.${signature}`,
    ],
    ['from another issuer', signed({ ...lasting, iss: 'elsewhere' })],
    ['for another audience', signed({ ...bound, aud: ['vault'] })],
    ['about another subject', signed({ ...lasting, sub: 'system:serviceaccount:kube-system:admin' })],
    ['without a uid', signed({ ...lasting, 'kubernetes.io/serviceaccount/service-account.uid': undefined })],
    ['with a secret that is no name', signed({ ...lasting, 'kubernetes.io/serviceaccount/secret.name': {} })],
    ['that is no token', 'ey.ey.ey'],
    ['that is something else', 'a-static-token'],
    ['that is cut off', good.slice(0, 40)],
  ])('a token %s', (_, token) => {
    expect(tokens.userOf(token)).toBeUndefined();
  });
});
