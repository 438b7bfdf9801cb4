import { createHmac } from 'node:crypto';
import { beforeEach, describe, expect, it } from 'vitest';
import { PlannerWorld, settle } from '../../../../test/support/planner-world.ts';
import { ConfigMap } from '../../../kinds/groups/core/configuration/config-map.ts';
import { Secret } from '../../../kinds/groups/core/configuration/secret.ts';
import { Namespace } from '../../../kinds/groups/core/namespace.ts';
import { detachedSignature, planClusterInfo, planTokenCleaning } from './bootstrap-tokens.ts';

const NOW = Date.parse('2030-01-01T00:00:00Z');
const options = { server: 'https://192.0.2.1:6443', authority: 'PEM', now: NOW };
let world: PlannerWorld;
let kubePublic: any;
let kubeSystem: any;

beforeEach(() => {
  world = new PlannerWorld();
  kubePublic = world.put(Namespace, { metadata: { name: 'kube-public' }, spec: {}, status: {} });
  kubeSystem = world.put(Namespace, { metadata: { name: 'kube-system' }, spec: {}, status: {} });
});

function token(id: string, given: Record<string, string> = {}, metadata: object = {}) {
  const data = {
    'token-id': id,
    'token-secret': '0123456789abcdef',
    'usage-bootstrap-signing': 'true',
    ...given,
  };
  return world.put(Secret, {
    metadata: { name: `bootstrap-token-${id}`, namespace: 'kube-system', ...metadata },
    type: 'bootstrap.kubernetes.io/token',
    data: Object.fromEntries(Object.entries(data).map(([key, value]) => [key, btoa(value)])),
  });
}

const info = () => world.of(ConfigMap).get('cluster-info', 'kube-public');
const put = () => settle(world, () => planClusterInfo(kubePublic, world, options));

describe('cluster-info', () => {
  it('has the server URL and the certificate authority', async () => {
    await put();
    expect(info().data.kubeconfig).toContain('server: https://192.0.2.1:6443');
    expect(info().data.kubeconfig).toContain(`certificate-authority-data: ${btoa('PEM')}`);
    expect(planClusterInfo(kubeSystem, world, options)).toEqual([]);
  });

  it('is signed by every token with the signing usage, and no other', async () => {
    token('aaaaaa');
    token('bbbbbb', { 'usage-bootstrap-signing': 'false' });
    token('cccccc', { expiration: '2029-12-31T23:59:59Z' });
    token('dddddd', { expiration: 'tomorrow' });
    token('eeeeee', {}, { name: 'bootstrap-token-ffffff' });
    await put();
    expect(Object.keys(info().data)).toEqual(['kubeconfig', 'jws-kubeconfig-aaaaaa']);
    const [head, , signature] = info().data['jws-kubeconfig-aaaaaa'].split('.');
    expect(JSON.parse(Buffer.from(head, 'base64url').toString())).toEqual({ alg: 'HS256', kid: 'aaaaaa' });
    const content = Buffer.from(info().data.kubeconfig).toString('base64url');
    const own = createHmac('sha256', '0123456789abcdef').update(`${head}.${content}`).digest('base64url');
    expect(signature).toBe(own);
  });

  it('loses the signature of a deleted token, and keeps foreign data', async () => {
    const secret = token('aaaaaa');
    await put();
    const { data, ...rest } = info();
    world.put(ConfigMap, { ...rest, data: { ...data, other: 'x' } });
    world.apply([{ type: 'delete', kind: Secret, object: secret }]);
    await put();
    expect(Object.keys(info().data).sort()).toEqual(['kubeconfig', 'other']);
  });

  it('is signed in the way of RFC 7515', () => {
    expect(detachedSignature('content', { id: 'joshua', secret: 'my-token' })).toMatch(
      /^eyJhbGciOiJIUzI1NiIsImtpZCI6Impvc2h1YSJ9\.\..{43}$/,
    );
  });
});

it('tokens are deleted when they have expired, and not before', () => {
  token('aaaaaa', { expiration: '2030-01-01T00:00:00Z' });
  token('bbbbbb', { expiration: '2030-01-01T01:00:00+00:00' });
  token('cccccc');
  token('dddddd', { expiration: 'never' });
  const plan = planTokenCleaning(kubeSystem, world, NOW);
  expect(plan.map((action) => ('object' in action ? action.object.metadata?.name : action))).toEqual([
    'bootstrap-token-aaaaaa',
    'bootstrap-token-dddddd',
    { type: 'requeueAfter', milliseconds: 3_600_000 },
  ]);
  expect(planTokenCleaning(kubePublic, world, NOW)).toEqual([]);
});

it('tokens of another type or namespace stay', () => {
  const { data } = token('aaaaaa', { expiration: '2020-01-01T00:00:00Z' });
  const other = new PlannerWorld();
  other.put(Secret, { metadata: { name: 'x', namespace: 'kube-system' }, type: 'Opaque', data });
  expect(planTokenCleaning(kubeSystem, other, NOW)).toEqual([]);
});
