import { createPublicKey, generateKeyPairSync } from 'node:crypto';
import { beforeEach, describe, expect, it } from 'vitest';
import { type Asked, type TestServer, testServer } from '../../../../test/support/server.ts';
import { systemRandom } from '../../../base/random.ts';
import { ControlledClock } from '../../../base/time/clock.ts';
import { allKinds } from '../../../kinds/all.ts';
import { ServiceAccountTokens } from '../../access/authn/tokens/service-account-tokens.ts';
import { createTokenIssuer } from '../../access/authn/tokens/token-issuer.ts';

const ISSUER = 'https://kubernetes.default.svc.cluster.local';
const key = generateKeyPairSync('ec', { namedCurve: 'prime256v1' }).privateKey;
const at: Asked = { name: 'builder', subresource: 'token' };
let api: TestServer;
let tokens: ServiceAccountTokens;
let uid: string;

async function start(given: { maxSeconds?: number; extendsExpiration?: boolean } = {}) {
  const clock = new ControlledClock();
  const tokenIssuer = createTokenIssuer({ key, issuer: ISSUER, audiences: [ISSUER], random: systemRandom, ...given });
  api = await testServer(allKinds, { clock, tokenIssuer });
  tokens = new ServiceAccountTokens({
    keys: [createPublicKey(key)],
    issuers: [ISSUER],
    audiences: [ISSUER],
    clock,
    find: api.server.find,
  });
  uid = (await api.create('serviceaccounts', { metadata: { name: 'builder' } })).metadata.uid;
}
beforeEach(() => start());

const request = (spec: object = {}, metadata: object = {}) =>
  api.create('serviceaccounts', { metadata, spec: { audiences: [], ...spec } }, at);
const claimsOf = (token: string) => JSON.parse(Buffer.from(token.split('.')[1]!, 'base64url').toString());

const pod = (name: string, serviceAccountName: string) => ({
  metadata: { name },
  spec: { serviceAccountName, containers: [{ name: 'c', image: 'i' }], terminationGracePeriodSeconds: 0 },
});

it('a token is valid for the server and for an hour by default', async () => {
  const { kind, apiVersion, metadata, spec, status } = await request();
  expect({ kind, apiVersion }).toEqual({ kind: 'TokenRequest', apiVersion: 'authentication.k8s.io/v1' });
  expect(metadata).toMatchObject({ name: 'builder', namespace: 'default', uid });
  expect(spec).toMatchObject({ audiences: [ISSUER], expirationSeconds: 3600 });
  expect(status.expirationTimestamp).toBe('2030-01-01T01:00:00Z');
  const now = api.clock.now() / 1000;
  expect(claimsOf(status.token)).toEqual({
    iss: ISSUER,
    sub: 'system:serviceaccount:default:builder',
    aud: [ISSUER],
    iat: now,
    nbf: now,
    exp: now + 3600,
    jti: expect.any(String),
    'kubernetes.io': { namespace: 'default', serviceaccount: { name: 'builder', uid } },
  });
  expect(tokens.userOf(status.token)).toMatchObject({ name: 'system:serviceaccount:default:builder', uid });
});

it('a token becomes invalid with its account, even when another one has the same name', async () => {
  const { token } = (await request()).status;
  expect(tokens.userOf(token)).toBeDefined();
  await api.delete('serviceaccounts', 'builder');
  expect(tokens.userOf(token)).toBeUndefined();
  await api.create('serviceaccounts', { metadata: { name: 'builder' } });
  expect(tokens.userOf(token)).toBeUndefined();
});

describe('a token bound to an object', () => {
  it('names a pod and its node, and becomes invalid with the pod', async () => {
    const node = await api.create('nodes', { metadata: { name: 'n' } }, { namespace: undefined } as never);
    const made = await api.create('pods', pod('p', 'builder'));
    await api.create(
      'pods',
      { metadata: { name: 'p' }, target: { kind: 'Node', name: 'n' } },
      {
        name: 'p',
        subresource: 'binding',
      },
    );
    const boundObjectRef = { kind: 'Pod', apiVersion: 'v1', name: 'p' };
    const { token } = (await request({ boundObjectRef })).status;
    expect(claimsOf(token)['kubernetes.io']).toMatchObject({
      pod: { name: 'p', uid: made.metadata.uid },
      node: { name: 'n', uid: node.metadata.uid },
    });
    expect(tokens.userOf(token)?.extra).toMatchObject({
      'authentication.kubernetes.io/pod-name': ['p'],
      'authentication.kubernetes.io/node-name': ['n'],
    });
    await api.delete('pods', 'p', { options: { gracePeriodSeconds: 0 } });
    expect(tokens.userOf(token)).toBeUndefined();
  });

  it('becomes invalid with a secret', async () => {
    await api.create('secrets', { metadata: { name: 's' } });
    const { token } = (await request({ boundObjectRef: { kind: 'Secret', apiVersion: 'v1', name: 's' } })).status;
    expect(tokens.userOf(token)).toBeDefined();
    await api.delete('secrets', 's');
    expect(tokens.userOf(token)).toBeUndefined();
  });

  it('becomes invalid with a node', async () => {
    const cluster = { namespace: undefined } as never;
    await api.create('nodes', { metadata: { name: 'n' } }, cluster);
    const { token } = (await request({ boundObjectRef: { kind: 'Node', apiVersion: 'v1', name: 'n' } })).status;
    expect(tokens.userOf(token)?.extra).toMatchObject({ 'authentication.kubernetes.io/node-name': ['n'] });
    await api.delete('nodes', 'n', cluster);
    expect(tokens.userOf(token)).toBeUndefined();
  });

  it.each([
    ['that is not there', { kind: 'Pod', apiVersion: 'v1', name: 'gone' }, 404, 'pods "gone" not found'],
    [
      'of another account',
      { kind: 'Pod', apiVersion: 'v1', name: 'q' },
      400,
      'cannot bind token for serviceaccount "builder" to pod running with different serviceaccount name.',
    ],
    [
      'of another kind',
      { kind: 'Job', apiVersion: 'batch/v1', name: 'j' },
      400,
      'cannot bind token to object of type batch/v1, Kind=Job',
    ],
    [
      'that was another',
      { kind: 'Pod', apiVersion: 'v1', name: 'p', uid: 'x' },
      409,
      'Operation cannot be fulfilled on Pod "p": the UID in the bound object reference (x) does not match the UID in record. The object might have been deleted and then recreated',
    ],
  ])('is not issued for one %s', async (_, boundObjectRef, code, message) => {
    await api.create('pods', pod('p', 'builder'));
    await api.create('serviceaccounts', { metadata: { name: 'default' } });
    await api.create('pods', pod('q', 'default'));
    await expect(request({ boundObjectRef })).rejects.toMatchObject({ code, message });
  });
});

it.each([
  ['for too short a time', { expirationSeconds: 599 }, {}, 422, 'may not specify a duration less than 10 minutes'],
  [
    'for too long a time',
    { expirationSeconds: 2 ** 32 + 1 },
    {},
    422,
    'may not specify a duration larger than 2^32 seconds',
  ],
  ['under another name', {}, { name: 'x' }, 422, 'must match the service account name if specified'],
  ['in another namespace', {}, { namespace: 'x' }, 422, 'must match the service account namespace if specified'],
  ['for an account of another uid', {}, { uid: 'x' }, 409, 'does not match the UID of the service account'],
])('a token request is rejected %s', async (_, spec, metadata, code, message) => {
  const error = await request(spec, metadata).catch((each) => each);
  expect(error).toMatchObject({ code });
  expect(error.message).toContain(message);
});

it('a token request is rejected for an account that does not exist', async () => {
  const asked = { name: 'nobody', subresource: 'token' };
  await expect(api.create('serviceaccounts', { spec: { audiences: [] } }, asked)).rejects.toMatchObject({
    code: 404,
    message: 'serviceaccounts "nobody" not found',
  });
});

it('a token lifetime is limited to the maximum of the cluster', async () => {
  await start({ maxSeconds: 3600 });
  const { spec, status } = await request({ expirationSeconds: 7200 });
  expect(spec.expirationSeconds).toBe(3600);
  expect(claimsOf(status.token).exp).toBe(api.clock.now() / 1000 + 3600);
});

it("a pod's token is valid for longer than it says, if the cluster extends tokens", async () => {
  await start({ extendsExpiration: true });
  await api.create('pods', pod('p', 'builder'));
  const boundObjectRef = { kind: 'Pod', apiVersion: 'v1', name: 'p' };
  const { status } = await request({ boundObjectRef, expirationSeconds: 3607 });
  const now = api.clock.now() / 1000;
  expect(claimsOf(status.token)).toMatchObject({ exp: now + 31_536_000, 'kubernetes.io': { warnafter: now + 3607 } });
  expect(status.expirationTimestamp).toBe('2030-01-01T01:00:07Z');
});
