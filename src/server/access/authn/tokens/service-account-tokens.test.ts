import { createPublicKey, generateKeyPairSync, type KeyObject } from 'node:crypto';
import { beforeEach, describe, expect, it } from 'vitest';
import { ControlledClock } from '../../../../base/time/clock.ts';
import { Secret } from '../../../../kinds/groups/core/configuration/secret.ts';
import { Node } from '../../../../kinds/groups/core/node/node.ts';
import { Pod } from '../../../../kinds/groups/core/pod/pod.ts';
import { ServiceAccount } from '../../../../kinds/groups/core/service-account.ts';
import type { Kind } from '../../../../kinds/kind.ts';
import { createAuthenticator, createIdentify } from '../authenticator.ts';
import type { CachedObject } from './bound-objects.ts';
import { jwtSigner } from './jwt.ts';
import { ServiceAccountTokens } from './service-account-tokens.ts';

const keys = generateKeyPairSync('ec', { namedCurve: 'prime256v1' });
const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 });
const other = generateKeyPairSync('ec', { namedCurve: 'prime256v1' });
const ISSUER = 'https://kubernetes.default.svc';
const NOW = Date.parse('2030-01-01T00:00:00Z') / 1000;

const signed = (claims: object, key: KeyObject = keys.privateKey) => jwtSigner(key)(claims);

const lasting = {
  iss: 'kubernetes/serviceaccount',
  sub: 'system:serviceaccount:default:builder',
  'kubernetes.io/serviceaccount/namespace': 'default',
  'kubernetes.io/serviceaccount/service-account.name': 'builder',
  'kubernetes.io/serviceaccount/service-account.uid': 'uid-1',
  'kubernetes.io/serviceaccount/secret.name': 'builder-token-x',
};

const account = { namespace: 'default', serviceaccount: { name: 'builder', uid: 'uid-1' } };
const bound = {
  iss: ISSUER,
  aud: ['api', 'other'],
  sub: 'system:serviceaccount:default:builder',
  jti: 'id-1',
  nbf: NOW,
  exp: NOW + 3600,
  'kubernetes.io': { ...account, pod: { name: 'p', uid: 'uid-2' }, node: { name: 'n', uid: 'uid-9' } },
};

/** A cache of objects, in which each change has its own revision. */
class World {
  readonly #objects = new Map<string, CachedObject>();
  #revision = 0;
  reads = 0;

  put(kind: Kind, name: string, object: any): void {
    const namespace = kind === Node ? '' : 'default';
    const hub = () => {
      this.reads++;
      return { ...object, metadata: { name, ...object.metadata } };
    };
    this.#objects.set(`${kind.kind}/${namespace}/${name}`, { revision: ++this.#revision, hub });
  }

  remove(kind: Kind, name: string): void {
    this.#objects.delete(`${kind.kind}/${kind === Node ? '' : 'default'}/${name}`);
  }

  find = (kind: Kind, namespace: string, name: string) => this.#objects.get(`${kind.kind}/${namespace}/${name}`);
}

let clock: ControlledClock;
let world: World;
let tokens: ServiceAccountTokens;
const withUid = (uid: string) => ({ metadata: { uid } });
const keep = (token: string) => world.put(Secret, 'builder-token-x', { data: { token: btoa(token) }, metadata: {} });
const tokensSignedWith = (...keys: KeyObject[]) =>
  new ServiceAccountTokens({ keys, issuers: [ISSUER], audiences: ['api'], clock, find: world.find });

beforeEach(() => {
  clock = new ControlledClock();
  world = new World();
  world.put(ServiceAccount, 'builder', withUid('uid-1'));
  world.put(Pod, 'p', withUid('uid-2'));
  tokens = tokensSignedWith(keys.publicKey, rsa.publicKey);
});

describe('a legacy token', () => {
  const token = signed(lasting);

  it('authenticates its account as long as the Secret holds it', () => {
    expect(tokens.userOf(token)).toBeUndefined();
    keep(token);
    expect(tokens.userOf(token)).toEqual({
      name: 'system:serviceaccount:default:builder',
      uid: 'uid-1',
      groups: ['system:serviceaccounts', 'system:serviceaccounts:default', 'system:authenticated'],
    });
    world.remove(Secret, 'builder-token-x');
    expect(tokens.userOf(token)).toBeUndefined();
    keep('another');
    expect(tokens.userOf(token)).toBeUndefined();
  });

  it('is invalid once its Secret is marked', () => {
    const labels = { 'kubernetes.io/legacy-token-invalid-since': '2029-01-01' };
    world.put(Secret, 'builder-token-x', { data: { token: btoa(token) }, metadata: { labels } });
    expect(tokens.userOf(token)).toBeUndefined();
  });

  it('has the audiences of the server', () => {
    keep(token);
    expect(tokens.review(token, ['api', 'vault'])?.audiences).toEqual(['api']);
    expect(tokens.review(token, ['vault'])).toBeUndefined();
  });
});

describe('a bound token', () => {
  it('authenticates its account, with the pod and node it is bound to', () => {
    expect(tokens.userOf(signed(bound, rsa.privateKey))).toMatchObject({
      name: 'system:serviceaccount:default:builder',
      extra: {
        'authentication.kubernetes.io/credential-id': ['JTI=id-1'],
        'authentication.kubernetes.io/pod-name': ['p'],
        'authentication.kubernetes.io/pod-uid': ['uid-2'],
        'authentication.kubernetes.io/node-name': ['n'],
        'authentication.kubernetes.io/node-uid': ['uid-9'],
      },
    });
  });

  it('expires', async () => {
    const token = signed(bound);
    expect(tokens.userOf(token)).toBeDefined();
    await clock.advance(3_599_999);
    expect(tokens.userOf(token)).toBeDefined();
    await clock.advance(1);
    expect(tokens.userOf(token)).toBeUndefined();
  });

  it('is not valid before its time, with a minute of leeway', async () => {
    const token = signed({ ...bound, nbf: NOW + 61 });
    expect(tokens.userOf(token)).toBeUndefined();
    await clock.advance(1_000);
    expect(tokens.userOf(token)).toBeDefined();
  });

  it.each([
    ['account', ServiceAccount, 'builder', bound],
    ['pod', Pod, 'p', bound],
    ['secret', Secret, 's', { ...bound, 'kubernetes.io': { ...account, secret: { name: 's', uid: 'uid-3' } } }],
    ['node', Node, 'm', { ...bound, 'kubernetes.io': { ...account, node: { name: 'm', uid: 'uid-4' } } }],
  ] as const)('ends with its %s, also when another takes the name', async (what, kind, name, claims) => {
    world.put(Secret, 's', withUid('uid-3'));
    world.put(Node, 'm', withUid('uid-4'));
    const token = signed(claims);
    expect(tokens.userOf(token)).toBeDefined();
    const uid = { account: 'uid-1', pod: 'uid-2', secret: 'uid-3', node: 'uid-4' }[what];
    world.put(kind, name, withUid('another'));
    expect(tokens.userOf(token)).toBeUndefined();
    world.put(kind, name, withUid(uid));
    expect(tokens.userOf(token)).toBeDefined();
    world.remove(kind, name);
    expect(tokens.userOf(token)).toBeUndefined();
  });

  it('stays valid for a minute while its pod is being deleted', async () => {
    const token = signed(bound);
    const deletionTimestamp = '2030-01-01T00:00:00Z';
    world.put(Pod, 'p', { metadata: { uid: 'uid-2', deletionTimestamp } });
    expect(tokens.userOf(token)).toBeDefined();
    await clock.advance(60_000);
    expect(tokens.userOf(token)).toBeUndefined();
  });

  it('does not need the node that its pod ran on', () => {
    world.remove(Node, 'n');
    expect(tokens.userOf(signed(bound))).toBeDefined();
  });

  it('is valid for the audiences it names', () => {
    const token = signed(bound);
    expect(tokens.review(token, ['other', 'x'])?.audiences).toEqual(['other']);
    expect(tokens.review(token, ['x'])).toBeUndefined();
    const elsewhere = signed({ ...bound, aud: 'vault' });
    expect(tokens.userOf(elsewhere)).toBeUndefined();
    expect(tokens.review(elsewhere, ['vault'])?.user.name).toBe('system:serviceaccount:default:builder');
  });

  it('examines bound objects only when they have changed', () => {
    const token = signed(bound);
    tokens.userOf(token);
    const { reads } = world;
    for (let i = 0; i < 10; i++) expect(tokens.userOf(token)).toBeDefined();
    expect(world.reads).toBe(reads);
  });
});

it('a replaced key is accepted while it is listed', () => {
  const token = signed(bound, other.privateKey);
  expect(tokens.userOf(token)).toBeUndefined();
  const rotated = tokensSignedWith(keys.publicKey, createPublicKey(other.privateKey));
  expect(rotated.userOf(token)).toBeDefined();
});

describe('rejects', () => {
  const good = signed(lasting);
  const [head, body, signature] = good.split('.') as [string, string, string];
  const encoded = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
  it.each([
    ['signed by another key', signed(lasting, other.privateKey)],
    ['without a signature', `${head}.${body}.`],
    ['with no algorithm', `${encoded({ alg: 'none' })}.${body}.`],
    ['with no algorithm and a signature', `${encoded({ alg: 'none' })}.${body}.${signature}`],
    ['with another algorithm than the key has', `${encoded({ alg: 'RS256' })}.${body}.${signature}`],
    ['with a broken signature', `${head}.${body}.AAAA${signature.slice(4)}`],
    ['with other claims', `${head}.${encoded({ ...lasting, x: 1 })}.${signature}`],
    ['from another issuer', signed({ ...bound, iss: 'elsewhere' })],
    ['in the bound shape from the issuer of lasting ones', signed({ ...bound, iss: lasting.iss })],
    ['in the lasting shape from the issuer of bound ones', signed({ ...lasting, iss: ISSUER })],
    ['for another audience', signed({ ...bound, aud: ['vault'] })],
    ['for no audience', signed({ ...bound, aud: undefined })],
    ['without an end', signed({ ...bound, exp: undefined })],
    ['about another subject', signed({ ...lasting, sub: 'system:serviceaccount:kube-system:admin' })],
    ['without a uid', signed({ ...lasting, 'kubernetes.io/serviceaccount/service-account.uid': undefined })],
    ['with a secret that is no name', signed({ ...lasting, 'kubernetes.io/serviceaccount/secret.name': {} })],
    ['with a pod that is none', signed({ ...bound, 'kubernetes.io': { ...account, pod: { name: 'p' } } })],
    ['that is no token', 'ey.ey.ey'],
    ['that is something else', 'a-static-token'],
    ['that is cut off', good.slice(0, 40)],
  ])('a token %s', (_, token) => {
    keep(token);
    expect(tokens.userOf(token)).toBeUndefined();
  });
});

it('treats tokens without audiences as tokens for the server in a review', async () => {
  const fixed = { userOf: (token: string) => (token === 'fixed' ? { name: 'ann', groups: [] } : undefined) };
  const identify = createIdentify([fixed, tokens], ['api']);
  expect(await identify('fixed', [])).toMatchObject({ user: { name: 'ann' }, audiences: ['api'] });
  expect(await identify('fixed', ['vault'])).toBeUndefined();
  const token = signed(bound);
  expect(await identify(token, [])).toMatchObject({ audiences: ['api'] });
  expect(await identify(token, ['other'])).toMatchObject({ audiences: ['other'] });
  expect(await identify('wrong', [])).toBeUndefined();
  const authenticate = createAuthenticator({ clock, tokens: [fixed, tokens], anonymous: false });
  const credentials = { certificate: undefined, authorization: `Bearer ${token}`, token: undefined };
  expect(authenticate(credentials)).toMatchObject({ uid: 'uid-1' });
});
