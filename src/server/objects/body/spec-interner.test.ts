import { beforeEach, expect, it } from 'vitest';
import { type TestServer, testServer } from '../../../../test/support/server.ts';
import { RequestNotes } from '../../../api/call.ts';
import type { ObjectReply } from '../../../api/reply.ts';
import { Namespace } from '../../../kinds/groups/core/namespace.ts';
import { Pod } from '../../../kinds/groups/core/pod/pod.ts';

const template = (image = 'shop:1') => ({
  volumes: [{ name: 'config', configMap: { name: 'shop-config' } }],
  containers: ['web', 'worker'].map((name) => ({
    name,
    image,
    args: ['--config=/etc/shop/config.yaml', '--listen=0.0.0.0:8080'],
    ports: [{ name, containerPort: 8080, protocol: 'TCP' }],
    resources: { requests: { cpu: '100m', memory: '128Mi' } },
    readinessProbe: { httpGet: { path: '/ready', port: name }, periodSeconds: 5 },
    volumeMounts: [{ name: 'config', mountPath: '/etc/shop' }],
  })),
});
const pod = (name: string, spec: object = template(), metadata: object = {}) => ({
  metadata: { name, ...metadata },
  spec,
});

let api: TestServer;
beforeEach(async () => {
  api = await testServer([Namespace, Pod]);
});

const spec = async (name: string, body = pod(name), notes = new RequestNotes()) => {
  const call = { verb: 'create', apiVersion: 'v1', plural: 'pods', namespace: 'default' } as const;
  const reply = await api.server.handle({ ...call, user: { name: 'tester', groups: [] }, body }, notes);
  return ((reply as ObjectReply).item.object as Pod).spec;
};

it('a pod whose spec equals a remembered one is complete, and shares its spec with the others', async () => {
  const first = await spec('a');
  expect(await spec('b')).toBe(first);
  const [a, b] = [await api.get('pods', 'a'), await api.get('pods', 'b')];
  expect(b.spec).toEqual(a.spec);
  expect(b.status).toEqual(a.status);
  expect(b.metadata).toMatchObject({ name: 'b', selfLink: '/api/v1/namespaces/default/pods/b' });
  expect(b.metadata.uid).not.toBe(a.metadata.uid);
});

it('a pod whose spec equals a remembered one can be changed without changing the others', async () => {
  await spec('a');
  await spec('b');
  const patched = { spec: { containers: [{ name: 'web', image: 'shop:2' }] } };
  await api.patch('pods', 'a', patched, { patchType: 'strategic' });
  expect((await api.get('pods', 'a')).spec.containers[0].image).toBe('shop:2');
  expect((await api.get('pods', 'b')).spec.containers[0].image).toBe('shop:1');
  expect((await spec('c')).containers[0]!.image).toBe('shop:1');
});

it.each([
  ['a label', { labels: { app: 'no label!' } }, 'metadata.labels'],
  [
    'an annotation about the spec',
    { annotations: { 'container.apparmor.security.beta.kubernetes.io/x': 'runtime/default' } },
    'metadata.annotations',
  ],
])('a pod whose spec equals a remembered one is still rejected for %s', async (_, metadata, field) => {
  await spec('a');
  await expect(api.create('pods', pod('b', template(), metadata))).rejects.toMatchObject({
    code: 422,
    message: expect.stringContaining(field),
  });
});

it('a pod whose spec equals a remembered one is still rejected for a claim name that its own name makes too long', async () => {
  const claim = { spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } } };
  const scratch = { ...template(), volumes: [{ name: 'config', ephemeral: { volumeClaimTemplate: claim } }] };
  const first = await spec('a', pod('a', scratch));
  expect(await spec('b', pod('b', scratch))).toBe(first);
  await expect(api.create('pods', pod('c'.repeat(250), scratch))).rejects.toMatchObject({
    code: 422,
    message: expect.stringContaining('spec.volumes[0].name'),
  });
});

it.each([
  ['no warning', 'b', {}, 0],
  ['a warning about its name', 'b.c', {}, 1],
  [
    'a warning about an annotation',
    'b',
    { annotations: { 'seccomp.security.alpha.kubernetes.io/pod': 'runtime/default' } },
    1,
  ],
])('a pod whose spec equals a remembered one gets %s', async (_, name, metadata, count) => {
  // The template has only one container: two with the same port would cause a warning.
  const quiet = () => ({ ...template(), containers: template().containers.slice(0, 1) });
  const first = await spec('a', pod('a', quiet()));
  const notes = new RequestNotes();
  expect(await spec(name, pod(name, quiet(), metadata), notes)).toBe(first);
  expect(notes.warnings ?? []).toHaveLength(count);
});

it('a pod whose spec equals a remembered one does not match a spec that differs in one field', async () => {
  const first = await spec('a');
  const other = template();
  other.containers[1]!.readinessProbe.periodSeconds = 6;
  expect(await spec('b', pod('b', other))).not.toBe(first);
  expect((await api.get('pods', 'b')).spec.containers[1].readinessProbe.periodSeconds).toBe(6);
});

it('a pod whose spec equals a remembered one never has an invalid spec', async () => {
  await spec('a');
  const other = template();
  other.containers[1]!.ports[0]!.containerPort = 70_000;
  await expect(api.create('pods', pod('b', other))).rejects.toMatchObject({ code: 422 });
  await expect(api.create('pods', pod('b', other))).rejects.toMatchObject({ code: 422 });
});

it('a pod whose spec equals a remembered one is found again after many specs without a match', async () => {
  for (let i = 0; i < 100; i++) await spec(`other-${i}`, pod(`other-${i}`, template(`other:${i}`)));
  const specs = [];
  for (let i = 0; i < 30; i++) specs.push(await spec(`same-${i}`));
  expect(new Set(specs.slice(20)).size).toBe(1);
});
