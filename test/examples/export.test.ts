/** Tests `export` of an object of every kind: a client could send the result to create it again. */
import { beforeEach, describe, expect, test } from 'vitest';
import { allKinds } from '../../src/kinds/all.ts';
import type { Kind, Version } from '../../src/kinds/kind.ts';
import { admissionPlugins } from '../../src/server/operations/admission/all.ts';
import { exampleOf } from '../support/kinds/examples.ts';
import { type TestServer, testServer } from '../support/server.ts';

const SERVER_FIELDS = ['uid', 'resourceVersion', 'selfLink', 'generation', 'creationTimestamp', 'managedFields'];

const can = ({ verbs }: Kind, verb: 'get' | 'create') => !verbs || verbs.includes(verb);
const served = allKinds
  .filter((kind) => can(kind, 'get') && can(kind, 'create'))
  .flatMap((kind) => kind.versions.map((version) => [`${kind.kind} of ${version.apiVersion}`, kind, version] as const));

let api: TestServer;
let other: TestServer;
beforeEach(async () => {
  [api, other] = await Promise.all([clusterWithAdmission(), clusterWithAdmission()]);
});

/** Starts a cluster with the objects that the examples refer to. */
async function clusterWithAdmission(): Promise<TestServer> {
  const cluster = await testServer(allKinds, { admission: admissionPlugins() });
  await cluster.create('serviceaccounts', { metadata: { name: 'default' } });
  return cluster;
}

const placeOf = (kind: Kind, { apiVersion }: Version) => ({
  apiVersion,
  ...(kind.scope === 'Namespaced' ? {} : { namespace: undefined }),
});

async function make(cluster: TestServer, kind: Kind): Promise<any> {
  const example = exampleOf(kind);
  // Without labels, some versions would take those of the template.
  example.metadata.labels = { example: 'yes' };
  return cluster.create(kind.plural, example, placeOf(kind, kind.hub));
}

describe.each(served)('%s', (_, kind, version) => {
  const at = placeOf(kind, version);
  const exported = (cluster: TestServer, name: string, exact = false) =>
    cluster.get(kind.plural, name, { ...at, options: { export: true, exact } });

  test('is exported without what a client cannot set', async () => {
    const { metadata } = await make(api, kind);
    for (const exact of [false, true]) {
      const object = await exported(api, metadata.name, exact);
      expect(object).toMatchObject({ kind: kind.kind, apiVersion: version.apiVersion });
      expect(object).not.toHaveProperty('status');
      for (const field of SERVER_FIELDS) expect(object.metadata).not.toHaveProperty(field);
      expect(object.metadata.namespace).toBe(exact ? metadata.namespace : undefined);
    }
  });

  // The newer version of an Event demands fields that one of the older version does not have.
  const isLossy = kind.kind === 'Event' && version !== kind.hub;
  test.skipIf(isLossy)('can be created from its export, and is the same then', async () => {
    const { metadata } = await make(api, kind);
    const sent = await exported(api, metadata.name);
    await other.create(kind.plural, sent, at);
    expect(await exported(other, metadata.name)).toEqual(sent);
  });
});

describe('a pod that admission has completed', () => {
  const exported = async (exact = false) => api.get('pods', 'a', { options: { export: true, exact } });
  const container = { name: 'main', image: 'busybox:1' };

  test('is exported as it was sent', async () => {
    await api.create('limitranges', {
      metadata: { name: 'limits' },
      spec: { limits: [{ type: 'Container', default: { cpu: '2', memory: '1Gi' }, defaultRequest: { cpu: '1' } }] },
    });
    const resources = { limits: { memory: '2Gi' }, requests: { memory: '1Gi' } };
    await api.create('pods', { metadata: { name: 'a' }, spec: { containers: [{ ...container, resources }] } });
    const stored = await api.get('pods', 'a');
    expect(stored.spec).toMatchObject({
      serviceAccountName: 'default',
      priority: 0,
      volumes: [{ projected: {} }],
      tolerations: [{}, {}],
      containers: [{ resources: { limits: { cpu: '2', memory: '2Gi' }, requests: { cpu: '1' } }, volumeMounts: [{}] }],
    });
    for (const exact of [false, true]) {
      const { metadata, spec } = await exported(exact);
      expect(metadata).toEqual(exact ? { name: 'a', namespace: 'default' } : { name: 'a' });
      expect(Object.keys(spec).sort()).toEqual([
        'containers',
        'dnsPolicy',
        'enableServiceLinks',
        'restartPolicy',
        'schedulerName',
        'securityContext',
        'terminationGracePeriodSeconds',
      ]);
      expect(spec.containers[0].resources).toEqual(resources);
      expect(spec.containers[0]).not.toHaveProperty('volumeMounts');
    }
  });

  test('keeps what the client chose', async () => {
    await api.create('serviceaccounts', { metadata: { name: 'own' } });
    const own = { key: 'own', operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 300 };
    const volumes = [{ name: 'data', emptyDir: {} }];
    const mounts = [{ name: 'data', mountPath: '/data' }];
    const containers = [{ ...container, volumeMounts: mounts }];
    const spec = { serviceAccountName: 'own', tolerations: [own], volumes, containers };
    await api.create('pods', { metadata: { name: 'a' }, spec });
    expect((await exported()).spec).toMatchObject(spec);
    expect((await exported()).spec.volumes).toHaveLength(1);
  });

  test('leaves its node behind unless the export is exact', async () => {
    await api.create('pods', { metadata: { name: 'a' }, spec: { containers: [container], nodeName: 'one' } });
    expect((await exported()).spec).not.toHaveProperty('nodeName');
    expect((await exported(true)).spec.nodeName).toBe('one');
  });
});

test('the token of a service account is not exported', async () => {
  const annotations = { 'kubernetes.io/service-account.name': 'default' };
  const token = { metadata: { name: 'token', annotations }, type: 'kubernetes.io/service-account-token' };
  await api.create('secrets', token);
  await expect(api.get('secrets', 'token', { options: { export: true } })).rejects.toMatchObject({ code: 400 });
  const exact = await api.get('secrets', 'token', { options: { export: true, exact: true } });
  expect(exact.type).toBe(token.type);
});
