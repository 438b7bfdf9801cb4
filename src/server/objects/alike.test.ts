import { beforeEach, describe, expect, it, vi } from 'vitest';
import { admitting } from '../../../test/support/admission.ts';
import { type TestServer, testServer } from '../../../test/support/server.ts';
import { Namespace } from '../../kinds/groups/core/namespace.ts';
import { Pod } from '../../kinds/groups/core/pod/pod.ts';
import { serviceAccount } from '../admission/service-account.ts';
import type { ObjectReply } from '../api.ts';
import { readOnce } from './known-specs.ts';

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

const web = { name: 'web', image: 'shop:7', ports: [{ containerPort: 80 }, { containerPort: 81, hostPort: 81 }] };
const term = {
  topologyKey: 'kubernetes.io/hostname',
  labelSelector: { matchLabels: { app: 'shop' } },
  matchLabelKeys: ['tier'],
};
const REQUIRED = 'requiredDuringSchedulingIgnoredDuringExecution';
const PREFERRED = 'preferredDuringSchedulingIgnoredDuringExecution';

let api: TestServer;
beforeEach(async () => {
  api = await testServer([Namespace, Pod]);
});

const spec = async (name: string, body = pod(name)) => {
  const call = { verb: 'create', apiVersion: 'v1', plural: 'pods', namespace: 'default' } as const;
  const reply = await api.server.handle({ ...call, user: { name: 'tester', groups: [] }, body });
  return ((reply as ObjectReply).item.object as Pod).spec;
};

describe('a pod of a template that is known', () => {
  it('is what any other would be, and shares its spec with the others', async () => {
    const first = await spec('a');
    expect(await spec('b')).toBe(first);
    const [a, b] = [await api.get('pods', 'a'), await api.get('pods', 'b')];
    expect(b.spec).toEqual(a.spec);
    expect(b.status).toEqual(a.status);
    expect(b.metadata).toMatchObject({ name: 'b', selfLink: '/api/v1/namespaces/default/pods/b' });
    expect(b.metadata.uid).not.toBe(a.metadata.uid);
  });

  it('is changed without the others', async () => {
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
  ])('is refused for %s all the same', async (_, metadata, field) => {
    await spec('a');
    await expect(api.create('pods', pod('b', template(), metadata))).rejects.toMatchObject({
      code: 422,
      message: expect.stringContaining(field),
    });
  });

  it('is refused for what its name makes of its claims', async () => {
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
    ['nothing, where there is nothing to say', 'b', {}, 0],
    ['what is to be said about its name', 'b.c', {}, 1],
    [
      'what is to be said about an annotation',
      'b',
      { annotations: { 'seccomp.security.alpha.kubernetes.io/pod': 'runtime/default' } },
      1,
    ],
  ])('is told of with %s', async (_, name, metadata, count) => {
    // Of two containers with the same port there would be something to say.
    const quiet = () => ({ ...template(), containers: template().containers.slice(0, 1) });
    const first = await spec('a', pod('a', quiet()));
    const call = { verb: 'create', apiVersion: 'v1', plural: 'pods', namespace: 'default' } as const;
    const body = pod(name, quiet(), metadata);
    const reply = await api.server.handle({ ...call, user: { name: 'tester', groups: [] }, body });
    expect(((reply as ObjectReply).item.object as Pod).spec).toBe(first);
    expect(reply.warnings ?? []).toHaveLength(count);
  });

  it('is not one whose spec differs in anything', async () => {
    const first = await spec('a');
    const other = template();
    other.containers[1]!.readinessProbe.periodSeconds = 6;
    expect(await spec('b', pod('b', other))).not.toBe(first);
    expect((await api.get('pods', 'b')).spec.containers[1].readinessProbe.periodSeconds).toBe(6);
  });

  it('is not one with a spec that is wrong', async () => {
    await spec('a');
    const other = template();
    other.containers[1]!.ports[0]!.containerPort = 70_000;
    await expect(api.create('pods', pod('b', other))).rejects.toMatchObject({ code: 422 });
    await expect(api.create('pods', pod('b', other))).rejects.toMatchObject({ code: 422 });
  });

  it('is found again after many that were all different', async () => {
    for (let i = 0; i < 100; i++) await spec(`other-${i}`, pod(`other-${i}`, template(`other:${i}`)));
    const specs = [];
    for (let i = 0; i < 30; i++) specs.push(await spec(`same-${i}`));
    expect(new Set(specs.slice(20)).size).toBe(1);
  });

  it('is told of, from the second on', async () => {
    const repeats = vi.fn();
    await api.create('pods', pod('a'), { repeats });
    expect(repeats).not.toHaveBeenCalled();
    await api.create('pods', pod('b'), { repeats });
    expect(repeats).toHaveBeenCalledOnce();
  });
});

describe('a spec that was read before', () => {
  it('makes the same object as one that is read', async () => {
    const known = template('shop:3');
    expect(readOnce(Pod.hub.schema, { spec: known }, {})).toBe(true);
    await api.create('pods', pod('plain', template('shop:3')));
    await api.create('pods', pod('known', known));
    expect((await api.get('pods', 'known')).spec).toEqual((await api.get('pods', 'plain')).spec);
  });

  it('is not changed by what becomes of the object', async () => {
    const known = template('shop:4');
    readOnce(Pod.hub.schema, { spec: known }, {});
    await api.create('pods', pod('a', known, { labels: { app: 'shop' } }));
    await api.patch('pods', 'a', { spec: { activeDeadlineSeconds: 5 } });
    expect((await spec('b', pod('b', known))).activeDeadlineSeconds).toBeUndefined();
  });

  it('is not changed by admission', async () => {
    const known = template('shop:6');
    readOnce(Pod.hub.schema, { spec: known }, {});
    const server = await admitting([serviceAccount]);
    await server.create('serviceaccounts', { metadata: { name: 'default' } });
    expect((await server.create('pods', pod('a', known))).spec).toMatchObject({ serviceAccountName: 'default' });
    expect((await spec('b', pod('b', known))).serviceAccountName).toBeUndefined();
  });

  it.each([
    ['limits without requests', { containers: [{ ...web, resources: { limits: { cpu: '1', memory: '1Gi' } } }] }],
    [
      'ports on the network of the node',
      { hostNetwork: true, containers: [web], initContainers: [{ ...web, name: 'first' }] },
    ],
    ['label keys of an affinity', { containers: [web], affinity: { podAffinity: { [REQUIRED]: [term] } } }],
    [
      'label keys of a preference',
      { containers: [web], affinity: { podAntiAffinity: { [PREFERRED]: [{ weight: 1, podAffinityTerm: term }] } } },
    ],
    [
      'label keys of a spread',
      { containers: [web], topologySpreadConstraints: [{ ...term, maxSkew: 1, whenUnsatisfiable: 'DoNotSchedule' }] },
    ],
    ['resources of the whole pod', { containers: [web], resources: { limits: { cpu: '2' } } }],
    ['lists of texts and of objects', { containers: [web], hostAliases: [{ ip: '1.2.3.4', hostnames: ['a', 'b'] }] }],
  ])('is completed for each object by itself: %s', async (_, given) => {
    const known = structuredClone(given) as object;
    const labels = (tier: string) => ({ labels: { tier } });
    const plain = await spec('plain', pod('plain', structuredClone(given), labels('front')));
    readOnce(Pod.hub.schema, { spec: known }, plain);
    expect(await spec('known', pod('known', known, labels('front')))).toEqual(plain);
    const other = await spec('other', pod('other', structuredClone(given), labels('back')));
    expect(await spec('again', pod('again', known, labels('back')))).toEqual(other);
    expect(await spec('last', pod('last', known, labels('front')))).toEqual(plain);
  });

  it('leaves unknown fields beside it to be told of', async () => {
    const known = template('shop:5');
    readOnce(Pod.hub.schema, { spec: known }, {});
    const body = { ...pod('a', known), extra: 1 };
    const asked = { options: { fieldValidation: 'Strict' } };
    await expect(api.create('pods', body, asked)).rejects.toThrow('unknown field "extra"');
  });
});
