import { beforeEach, describe, expect, it } from 'vitest';
import { type TestServer, testServer } from '../../../../test/support/server.ts';
import { allKinds } from '../../../kinds/all.ts';
import { type Identify, unauthenticated } from '../../access/authn/authenticator.ts';
import { NO_CONNECTION } from '../../outbound/nodes/connection.ts';
import { virtualResources } from './all.ts';

const identify: Identify = async (token) =>
  token === 'good' ? { user: { name: 'ann', groups: ['g'] }, audiences: ['api'] } : undefined;

let api: TestServer;
beforeEach(async () => {
  api = await testServer(allKinds, { authentication: () => ({ ...unauthenticated, identify }) });
});

const cluster: any = { namespace: undefined };
const authentication = { ...cluster, apiVersion: 'authentication.k8s.io/v1' };
const authorization = { ...cluster, apiVersion: 'authorization.k8s.io/v1' };

it('identity reviews tell callers their identity', async () => {
  const { status } = await api.create('selfsubjectreviews', {}, authentication);
  expect(status.userInfo).toEqual({ username: 'tester', groups: ['system:masters'] });
});

it('identity reviews tell whose a token is, and that it is invalid', async () => {
  const ask = async (token: string) => (await api.create('tokenreviews', { spec: { token } }, authentication)).status;
  expect(await ask('good')).toEqual({
    authenticated: true,
    user: { username: 'ann', groups: ['g'] },
    audiences: ['api'],
  });
  expect(await ask('bad')).toEqual({ user: {}, error: 'invalid bearer token' });
  await expect(ask('')).rejects.toMatchObject({ code: 400 });
});

it('access reviews are decided, and validated like any other body', async () => {
  const resourceAttributes = { verb: 'get', resource: 'pods', namespace: 'default' };
  const { status } = await api.create('selfsubjectaccessreviews', { spec: { resourceAttributes } }, authorization);
  expect(status).toEqual({ allowed: true });
  await expect(
    api.create('subjectaccessreviews', { spec: { resourceAttributes } }, authorization),
  ).rejects.toMatchObject({
    code: 422,
  });
  const rules = await api.create('selfsubjectrulesreviews', { spec: { namespace: 'default' } }, authorization);
  expect(rules.status.resourceRules).toEqual([{ verbs: ['*'], apiGroups: ['*'], resources: ['*'] }]);
});

it('component statuses are computed for each request, and never stored', async () => {
  const list = await api.list('componentstatuses', cluster);
  expect(list.items.map(({ object }) => object.metadata.name)).toEqual(['etcd-0']);
  expect((await api.get('componentstatuses', 'etcd-0', cluster)).conditions).toEqual([
    { type: 'Healthy', status: 'True', message: 'ok' },
  ]);
  await expect(api.get('componentstatuses', 'none', cluster)).rejects.toMatchObject({ code: 404 });
});

describe('resource metrics', () => {
  const metrics = { ...cluster, apiVersion: 'metrics.k8s.io/v1beta1' };
  const inDefault = { ...metrics, namespace: 'default' };
  const running = (name: string, app: string, nodeName = 'n1') => ({
    metadata: { name, labels: { app } },
    spec: { nodeName, containers: [{ name: 'c', image: 'x' }] },
  });
  const run = async (name: string, app: string, nodeName?: string) => {
    await api.create('pods', running(name, app, nodeName));
    const status = { phase: 'Running' };
    await api.patch('pods', name, { status }, { subresource: 'status', patchType: 'merge' });
  };
  const names = async (options: object, at = inDefault) =>
    (await api.list('pods', { ...at, options })).items.map(({ object }) => object.metadata.name);

  beforeEach(async () => {
    await api.create('nodes', { metadata: { name: 'n1', labels: { zone: 'a' } } }, cluster);
    await api.create('nodes', { metadata: { name: 'n2' } }, cluster);
    await run('web', 'web');
    await run('db', 'db');
    await run('lost', 'web', 'n2');
    await api.create('pods', running('new', 'web'));
    const pod = (name: string) => ({
      ...{ namespace: 'default', name, containers: [{ name: 'c', cpu: 12_345_678, memory: 2048 }] },
    });
    const usage = {
      time: Date.parse('2030-01-01T00:00:00Z'),
      ...{ window: 10_000, node: { cpu: 1_500_000_000, memory: 1024 ** 3 }, pods: ['web', 'db', 'new'].map(pod) },
    };
    api.reachNodesBy({
      ...NO_CONNECTION,
      logs: () => Promise.reject(new Error('no logs')),
      usage: async (node) => (node === 'n1' ? usage : undefined),
    });
  });

  it('cover nodes that have measured their usage', async () => {
    const list = await api.list('nodes', metrics);
    expect(list).toMatchObject({ kind: 'NodeMetricsList', apiVersion: 'metrics.k8s.io/v1beta1' });
    expect(list.items.map(({ object }) => object)).toEqual([
      {
        kind: 'NodeMetrics',
        apiVersion: 'metrics.k8s.io/v1beta1',
        metadata: {
          ...{ name: 'n1', labels: { zone: 'a' }, selfLink: '/apis/metrics.k8s.io/v1beta1/nodes/n1' },
          creationTimestamp: expect.any(String),
        },
        ...{ timestamp: '2030-01-01T00:00:00Z', window: '10s', usage: { cpu: '1500m', memory: '1Gi' } },
      },
    ]);
    await expect(api.get('nodes', 'n2', metrics)).rejects.toMatchObject({
      message: 'nodes.metrics.k8s.io "n2" not found',
    });
  });

  it('cover running pods, by namespace, labels and name', async () => {
    expect(await names({})).toEqual(['db', 'web']);
    expect(await names({}, metrics)).toEqual(['db', 'web']);
    expect(await names({ labelSelector: 'app=web' })).toEqual(['web']);
    expect(await names({ fieldSelector: 'metadata.name=db' })).toEqual(['db']);
    expect(await names({}, { ...metrics, namespace: 'kube-system' })).toEqual([]);
    expect(await api.get('pods', 'web', inDefault)).toMatchObject({
      metadata: { namespace: 'default', selfLink: '/apis/metrics.k8s.io/v1beta1/namespaces/default/pods/web' },
      containers: [{ name: 'c', usage: { cpu: '12345678n', memory: '2Ki' } }],
    });
    await expect(api.get('pods', 'new', inDefault)).rejects.toMatchObject({ code: 404 });
  });

  it('cannot be written or watched', async () => {
    const rejected = { code: 405 };
    await expect(api.create('pods', {}, inDefault)).rejects.toMatchObject(rejected);
    await expect(api.delete('pods', 'web', inDefault)).rejects.toMatchObject(rejected);
    await expect(api.watch('pods', inDefault)).rejects.toMatchObject(rejected);
  });
});

it.each(virtualResources.map((virtual) => [virtual.kind.kind, virtual] as const))(
  '%s performs the verbs that its kind declares',
  (_, { kind, operations }) => {
    expect(Object.keys(operations).sort()).toEqual([...(kind.verbs ?? [])].sort());
  },
);
