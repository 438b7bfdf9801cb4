import { beforeEach, describe, expect, it } from 'vitest';
import { admitting, podNamed, rejection } from '../../../../../../test/support/admission.ts';
import type { TestServer } from '../../../../../../test/support/server.ts';
import { serviceAccount } from './service-account.ts';

let server: TestServer;
beforeEach(async () => {
  server = await admitting([serviceAccount]);
});

const account = (name: string, fields: object = {}, annotations: object = {}) =>
  server.create('serviceaccounts', { metadata: { name, annotations }, ...fields });

const PATH = '/var/run/secrets/kubernetes.io/serviceaccount';

describe('a pod', () => {
  it('gets the default account, and its token mounted', async () => {
    await account('default');
    const spec = { initContainers: [{ name: 'i', image: 'x' }] };
    const { spec: pod } = await server.create('pods', podNamed('a', spec));
    expect(pod).toMatchObject({ serviceAccountName: 'default', serviceAccount: 'default' });
    const [{ name, ...volume }] = pod.volumes;
    expect(name).toMatch(/^kube-api-access-[a-z0-9]{5}$/);
    expect(volume).toEqual({
      projected: {
        sources: [
          { serviceAccountToken: { expirationSeconds: 3607, path: 'token' } },
          { configMap: { name: 'kube-root-ca.crt', items: [{ key: 'ca.crt', path: 'ca.crt' }] } },
          {
            downwardAPI: {
              items: [{ path: 'namespace', fieldRef: { apiVersion: 'v1', fieldPath: 'metadata.namespace' } }],
            },
          },
        ],
        defaultMode: 420,
      },
    });
    const mount = { name, readOnly: true, mountPath: PATH };
    expect(pod.containers[0].volumeMounts).toEqual([mount]);
    expect(pod.initContainers[0].volumeMounts).toEqual([mount]);
    // A client that reads the pod and writes it back sees no change.
    const read = await server.get('pods', 'a');
    expect((await server.update('pods', read)).metadata.resourceVersion).toBe(read.metadata.resourceVersion);
  });

  it('gets no token when it, or its account, opts out', async () => {
    await account('default');
    await account('quiet', { automountServiceAccountToken: false });
    const own = { automountServiceAccountToken: false };
    expect((await server.create('pods', podNamed('a', own))).spec.volumes).toBeUndefined();
    expect((await server.create('pods', podNamed('b', { serviceAccountName: 'quiet' }))).spec.volumes).toBeUndefined();
    const both = { serviceAccountName: 'quiet', automountServiceAccountToken: true };
    expect((await server.create('pods', podNamed('c', both))).spec.volumes).toHaveLength(1);
  });

  it('keeps its own volume at the path of the token', async () => {
    await account('default');
    const mounts = [{ name: 'mine', mountPath: PATH }];
    const { spec } = await server.create(
      'pods',
      podNamed('a', {
        containers: [{ name: 'c', image: 'x', volumeMounts: mounts }],
        volumes: [{ name: 'mine', emptyDir: {} }],
      }),
    );
    expect(spec.volumes).toEqual([{ name: 'mine', emptyDir: {} }]);
    expect(spec.containers[0].volumeMounts).toMatchObject(mounts);
  });

  it('gets the image pull secrets of its account', async () => {
    await account('default', { imagePullSecrets: [{ name: 'registry' }] });
    expect((await server.create('pods', podNamed('a'))).spec.imagePullSecrets).toEqual([{ name: 'registry' }]);
    const own = { imagePullSecrets: [{ name: 'own' }] };
    expect((await server.create('pods', podNamed('b', own))).spec.imagePullSecrets).toEqual([{ name: 'own' }]);
  });

  it('is rejected with an account that does not exist', async () => {
    expect(await rejection(server.create('pods', podNamed('a', { serviceAccountName: 'none' })))).toBe(
      'pods "a" is forbidden: error looking up service account default/none: serviceaccount "none" not found',
    );
  });

  it('waits briefly for the default account of a new namespace', async () => {
    const waiting = server.create('pods', podNamed('a'));
    await server.clock.advance(500);
    await account('default');
    expect((await waiting).spec.serviceAccountName).toBe('default');
  });

  it('does not wait forever', async () => {
    const waiting = rejection(server.create('pods', podNamed('a')));
    await server.clock.advance(5000);
    expect(await waiting).toContain('serviceaccount "default" not found');
  });
});

describe('an account that allows only its own secrets', () => {
  beforeEach(() =>
    account(
      'strict',
      { secrets: [{ name: 'mine' }], imagePullSecrets: [{ name: 'pull' }] },
      { 'kubernetes.io/enforce-mountable-secrets': 'true' },
    ),
  );
  const strict = (spec: object) => server.create('pods', podNamed('a', { serviceAccountName: 'strict', ...spec }));
  const why = 'because service account strict does not reference that';

  it.each([
    [
      'volumes',
      { volumes: [{ name: 'v', secret: { secretName: 'other' } }] },
      `volume with secret.secretName="other" is not allowed ${why} secret`,
    ],
    [
      'variables',
      {
        containers: [
          { name: 'c', image: 'x', env: [{ name: 'E', valueFrom: { secretKeyRef: { name: 'other', key: 'k' } } }] },
        ],
      },
      `container c with envVar E referencing secret.secretName="other" is not allowed ${why} secret`,
    ],
    [
      'all variables of init containers',
      { initContainers: [{ name: 'i', image: 'x', envFrom: [{ secretRef: { name: 'other' } }] }] },
      `init container i with envFrom referencing secret.secretName="other" is not allowed ${why} secret`,
    ],
    [
      'credentials for images',
      { imagePullSecrets: [{ name: 'pull' }, { name: 'other' }] },
      `imagePullSecrets[1].name="other" is not allowed ${why} imagePullSecret`,
    ],
  ])('rejects others in %s', async (_, spec, message) => {
    expect(await rejection(strict(spec))).toBe(`pods "a" is forbidden: ${message}`);
  });

  it('allows its own', async () => {
    const spec = { volumes: [{ name: 'v', secret: { secretName: 'mine' } }] };
    expect((await strict(spec)).spec.imagePullSecrets).toEqual([{ name: 'pull' }]);
  });
});

const mirror = (spec: Record<string, unknown>) => {
  const { metadata, spec: rest } = podNamed('m', spec);
  const annotations = { 'kubernetes.io/config.mirror': 'x' };
  return server.create('pods', { metadata: { ...metadata, annotations }, spec: { ...rest, nodeName: 'n' } });
};

it('a mirror pod is not changed', async () => {
  const { spec } = await mirror({});
  expect([spec.serviceAccountName, spec.volumes]).toEqual([undefined, undefined]);
});

it.each([
  [{ serviceAccountName: 'a' }, 'a mirror pod may not reference service accounts'],
  [{ volumes: [{ name: 'v', secret: { secretName: 's' } }] }, 'a mirror pod may not reference secrets'],
  [{ imagePullSecrets: [{ name: 's' }] }, 'a mirror pod may not reference secrets'],
])('a mirror pod with %j is rejected', async (spec, message) => {
  expect(await rejection(mirror(spec))).toBe(`pods "m" is forbidden: ${message}`);
});
