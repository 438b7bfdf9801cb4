import { beforeEach, describe, expect, it } from 'vitest';
import { type TestServer, testServer } from '../../../../test/support/server.ts';
import { Deployment } from '../../../kinds/groups/apps/deployment.ts';
import { Binding } from '../../../kinds/groups/core/binding.ts';
import { Namespace } from '../../../kinds/groups/core/namespace.ts';
import { Pod } from '../../../kinds/groups/core/pod/pod.ts';

let api: TestServer;
beforeEach(async () => {
  api = await testServer([Binding, Deployment, Namespace, Pod]);
});

const container = { name: 'main', image: 'busybox:1.36' };
const pod = (name: string) => ({ metadata: { name, labels: { app: name } }, spec: { containers: [container] } });
const deployment = (name: string) => ({
  metadata: { name, labels: { app: name } },
  spec: {
    replicas: 2,
    selector: { matchLabels: { app: name } },
    template: { metadata: { labels: { app: name } }, spec: { containers: [container] } },
  },
});

const v1 = { apiVersion: 'apps/v1' };
const beta = { apiVersion: 'apps/v1beta1' };

it('status is changed only through its own path, which changes nothing else', async () => {
  await api.create('deployments', deployment('a'), v1);
  const replaced = await api.update('deployments', { ...deployment('a'), status: { replicas: 7 } }, v1);
  expect(replaced.status).toEqual({});
  const sent = { ...replaced, spec: { ...replaced.spec, replicas: 9 }, status: { replicas: 3 } };
  const stated = await api.update('deployments', sent, { ...v1, subresource: 'status' });
  expect(stated.status).toEqual({ replicas: 3 });
  expect(stated.spec.replicas).toBe(2);
  expect(stated.metadata.generation).toBe(replaced.metadata.generation);
  expect(stated.metadata.selfLink).toBe('/apis/apps/v1/namespaces/default/deployments/a/status');
  const patched = await api.patch(
    'deployments',
    'a',
    { status: { readyReplicas: 1 } },
    { ...v1, subresource: 'status' },
  );
  expect(patched.status).toEqual({ replicas: 3, readyReplicas: 1 });
  expect((await api.get('deployments', 'a', { ...v1, subresource: 'status' })).status).toEqual(patched.status);
});

it('status does not raise the generation, as a changed spec does', async () => {
  const made = await api.create('deployments', deployment('a'), v1);
  expect(made.metadata.generation).toBe(1);
  await api.patch('deployments', 'a', { status: { replicas: 1 } }, { ...v1, subresource: 'status' });
  expect((await api.patch('deployments', 'a', { metadata: { labels: { x: 'y' } } }, v1)).metadata.generation).toBe(1);
  expect((await api.patch('deployments', 'a', { spec: { replicas: 5 } }, v1)).metadata.generation).toBe(2);
});

it('scale reads and writes the number of replicas', async () => {
  await api.create('deployments', deployment('a'), v1);
  const at = { ...v1, subresource: 'scale' };
  const read = await api.get('deployments', 'a', at);
  expect(read).toMatchObject({
    kind: 'Scale',
    apiVersion: 'autoscaling/v1',
    metadata: { name: 'a', selfLink: '/apis/apps/v1/namespaces/default/deployments/a/scale' },
    spec: { replicas: 2 },
    status: { replicas: 0, selector: 'app=a' },
  });
  expect((await api.update('deployments', { ...read, spec: { replicas: 4 } }, at)).spec).toEqual({ replicas: 4 });
  expect((await api.get('deployments', 'a', v1)).spec.replicas).toBe(4);
  expect((await api.patch('deployments', 'a', { spec: { replicas: 1 } }, at)).spec.replicas).toBe(1);
  await expect(api.update('deployments', { ...read, spec: { replicas: 3 } }, at)).rejects.toMatchObject({
    code: 409,
  });
  await expect(api.patch('deployments', 'a', { spec: { replicas: -3 } }, at)).rejects.toMatchObject({
    code: 422,
    message: 'Scale.autoscaling "a" is invalid: spec.replicas: Invalid value: -3: must be greater than or equal to 0',
  });
});

it('scale has the older shape in the older versions', async () => {
  await api.create('deployments', deployment('a'), beta);
  expect(await api.get('deployments', 'a', { ...beta, subresource: 'scale' })).toMatchObject({
    apiVersion: 'apps/v1beta1',
    status: { replicas: 0, selector: { app: 'a' }, targetSelector: 'app=a' },
  });
});

it('rollback sets an annotation for the controller, which every version shows', async () => {
  await api.create('deployments', deployment('a'), beta);
  const body = { name: 'a', rollbackTo: { revision: 3 }, updatedAnnotations: { why: 'because' } };
  const done = await api.create('deployments', body, { ...beta, name: 'a', subresource: 'rollback' });
  expect(done).toMatchObject({
    status: 'Success',
    code: 200,
    message: 'rollback request for deployment "a" succeeded',
  });
  expect((await api.get('deployments', 'a', beta)).spec.rollbackTo).toEqual({ revision: 3 });
  expect((await api.get('deployments', 'a', v1)).metadata.annotations).toEqual({
    why: 'because',
    'deprecated.deployment.rollback.to': '3',
    'deprecated.deployment.rollback.updated-annotations': '["why"]',
  });
});

it('rollback needs the name of the deployment', async () => {
  await api.create('deployments', deployment('a'), beta);
  const at = { ...beta, name: 'a', subresource: 'rollback' };
  await expect(api.create('deployments', {}, at)).rejects.toMatchObject({ code: 422 });
  await expect(api.create('deployments', { name: 'other' }, at)).rejects.toMatchObject({ code: 404 });
});

describe('binding', () => {
  it('assigns a pod to a node, once', async () => {
    await api.create('pods', pod('a'));
    const body = { metadata: { name: 'a' }, target: { kind: 'Node', name: 'n1' } };
    const at = { name: 'a', subresource: 'binding' };
    expect(await api.create('pods', body, at)).toMatchObject({ status: 'Success' });
    const bound = await api.get('pods', 'a');
    expect(bound.spec.nodeName).toBe('n1');
    expect(bound.status.conditions).toEqual([
      { type: 'PodScheduled', status: 'True', lastTransitionTime: '2030-01-01T00:00:00Z' },
    ]);
    await expect(api.create('pods', body, at)).rejects.toMatchObject({
      code: 409,
      message: 'Operation cannot be fulfilled on pods/binding "a": pod a is already assigned to node "n1"',
    });
  });

  it('rejects a name that no node can have, and leaves the pod unchanged', async () => {
    await api.create('pods', pod('a'));
    const binding = api.create(
      'pods',
      { target: { kind: 'Node', name: 'No Node' } },
      { name: 'a', subresource: 'binding' },
    );
    await expect(binding).rejects.toMatchObject({ code: 422, message: expect.stringContaining('spec.nodeName') });
    expect((await api.get('pods', 'a')).spec.nodeName).toBeUndefined();
  });

  it('does not raise the generation', async () => {
    await api.create('pods', pod('a'));
    await api.create('pods', { target: { kind: 'Node', name: 'n1' } }, { name: 'a', subresource: 'binding' });
    expect((await api.get('pods', 'a')).metadata.generation).toBe(1);
  });

  it('can be created beside the pods', async () => {
    await api.create('pods', pod('a'));
    await api.create('bindings', { metadata: { name: 'a' }, target: { kind: 'Node', name: 'n1' } });
    expect((await api.get('pods', 'a')).spec.nodeName).toBe('n1');
  });
});

describe('deleting a pod', () => {
  const bind = (name: string) =>
    api.create('pods', { target: { kind: 'Node', name: 'n1' } }, { name, subresource: 'binding' });

  it('removes it at once when it is not scheduled', async () => {
    await api.create('pods', pod('a'));
    await api.delete('pods', 'a');
    await expect(api.get('pods', 'a')).rejects.toMatchObject({ code: 404 });
  });

  it('starts the grace period of a running one, which can only be shortened', async () => {
    await api.create('pods', pod('a'));
    await bind('a');
    await api.delete('pods', 'a');
    expect((await api.get('pods', 'a')).metadata).toMatchObject({
      deletionTimestamp: '2030-01-01T00:00:30Z',
      deletionGracePeriodSeconds: 30,
    });
    await api.delete('pods', 'a', { options: { gracePeriodSeconds: 60 } });
    expect((await api.get('pods', 'a')).metadata.deletionGracePeriodSeconds).toBe(30);
    await api.delete('pods', 'a', { body: { gracePeriodSeconds: 5 } });
    expect((await api.get('pods', 'a')).metadata).toMatchObject({
      deletionTimestamp: '2030-01-01T00:00:05Z',
      deletionGracePeriodSeconds: 5,
    });
    await api.delete('pods', 'a', { options: { gracePeriodSeconds: 0 } });
    await expect(api.get('pods', 'a')).rejects.toMatchObject({ code: 404 });
  });

  it('works in the same way by eviction', async () => {
    await api.create('pods', pod('a'));
    const body = {
      apiVersion: 'policy/v1',
      kind: 'Eviction',
      metadata: { name: 'a' },
      deleteOptions: { gracePeriodSeconds: 0 },
    };
    expect(await api.create('pods', body, { name: 'a', subresource: 'eviction' })).toMatchObject({ status: 'Success' });
    await expect(api.get('pods', 'a')).rejects.toMatchObject({ code: 404 });
  });
});

const evict = (apiVersion: string | undefined) =>
  api.create('pods', { apiVersion, kind: 'Eviction', metadata: { name: 'a' } }, { name: 'a', subresource: 'eviction' });

it.each(['policy/v1', 'policy/v1beta1', undefined])('an eviction may be of version %s', async (apiVersion) => {
  await api.create('pods', pod('a'));
  expect(await evict(apiVersion)).toMatchObject({ status: 'Success' });
});

it.each(['v1', 'policy/v9'])('an eviction is rejected in version %s, and the pod remains', async (apiVersion) => {
  await api.create('pods', pod('a'));
  await expect(evict(apiVersion)).rejects.toMatchObject({
    code: 400,
    message: expect.stringContaining(`no kind "Eviction" is registered for version "${apiVersion}"`),
  });
  expect((await api.get('pods', 'a')).metadata.deletionTimestamp).toBeUndefined();
});

it('a path that a kind does not have is not found, and an unknown verb is not allowed', async () => {
  await api.create('pods', pod('a'));
  await expect(api.get('pods', 'a', { subresource: 'scale' })).rejects.toMatchObject({ code: 404 });
  await expect(api.get('pods', 'a', { subresource: 'binding' })).rejects.toMatchObject({ code: 405 });
  await expect(api.list('bindings')).rejects.toMatchObject({ code: 405 });
});
