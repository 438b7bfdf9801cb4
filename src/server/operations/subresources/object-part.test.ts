import { beforeEach, describe, expect, it } from 'vitest';
import { pem, testRequest } from '../../../../test/support/kinds/test-request.ts';
import { type TestServer, testServer } from '../../../../test/support/server.ts';
import { CertificateSigningRequest } from '../../../kinds/groups/access/certificates/certificate-signing-request.ts';
import { Namespace } from '../../../kinds/groups/core/namespace.ts';
import { Pod } from '../../../kinds/groups/core/pod/pod.ts';

let api: TestServer;
beforeEach(async () => {
  api = await testServer([CertificateSigningRequest, Namespace, Pod]);
});

const at = { apiVersion: 'certificates.k8s.io/v1', namespace: undefined };
const plural = 'certificatesigningrequests';
const approved = { type: 'Approved', status: 'True', reason: 'KubectlApprove', message: 'by hand' };
const make = () =>
  api.create(
    plural,
    {
      metadata: { name: 'a' },
      spec: {
        request: Buffer.from(pem(testRequest())).toString('base64'),
        signerName: 'kubernetes.io/kube-apiserver-client',
        usages: ['client auth'],
      },
    },
    at,
  );

it('approval is the only way to approve a request, and changes nothing else', async () => {
  const made = await make();
  const wanted = {
    ...made,
    spec: { ...made.spec, signerName: 'example.com/other' },
    status: { conditions: [approved] },
  };
  expect((await api.update(plural, wanted, at)).status).toEqual({});
  const rejected = api.update(plural, { ...wanted, metadata: { name: 'a' } }, { ...at, subresource: 'status' });
  await expect(rejected).rejects.toMatchObject({
    message: expect.stringContaining('updates may not add a condition of type "Approved"'),
  });
  const decided = await api.update(plural, wanted, { ...at, subresource: 'approval' });
  expect(decided.spec).toEqual(made.spec);
  expect(decided.status.conditions).toEqual([
    { ...approved, lastUpdateTime: '2030-01-01T00:00:00Z', lastTransitionTime: '2030-01-01T00:00:00Z' },
  ]);
  expect(decided.metadata.selfLink).toMatch(/\/a\/approval$/);
  const shown = await api.get(plural, 'a', { ...at, subresource: 'approval' });
  expect(shown.status).toEqual(decided.status);
});

it('approval accepts a patch, and ignores a certificate', async () => {
  await make();
  const denied = { type: 'Denied', status: 'True' };
  const status = { conditions: [denied], certificate: 'eA==' };
  const decided = await api.patch(plural, 'a', { status }, { ...at, subresource: 'approval' });
  expect(decided.status.conditions).toMatchObject([denied]);
  expect(decided.status.certificate).toBeUndefined();
  const both = api.patch(
    plural,
    'a',
    { status: { conditions: [denied, approved] } },
    { ...at, subresource: 'approval' },
  );
  await expect(both).rejects.toMatchObject({ message: expect.stringContaining('mutually exclusive') });
});

describe('of a running pod', () => {
  const limits = { cpu: '1', memory: '64Mi' };
  const container = { name: 'main', image: 'busybox:1.36', resources: { limits, requests: limits } };
  beforeEach(async () => {
    await api.create('pods', { metadata: { name: 'a', labels: { app: 'a' } }, spec: { containers: [container] } });
  });

  it('resize changes resources and raises the generation', async () => {
    const more = { limits: { ...limits, cpu: '2' }, requests: { ...limits, cpu: '2' } };
    const body = {
      metadata: { name: 'a', labels: { app: 'b' } },
      spec: { containers: [{ ...container, image: 'other', resources: more }] },
    };
    const resized = await api.update('pods', body, { subresource: 'resize' });
    expect(resized.spec.containers[0]).toMatchObject({ image: 'busybox:1.36', resources: more });
    expect(resized.metadata).toMatchObject({ labels: { app: 'a' }, generation: 2 });
    expect(resized.metadata.selfLink).toBe('/api/v1/namespaces/default/pods/a');
  });

  it('ephemeralcontainers adds containers and nothing else', async () => {
    const look = { name: 'look', image: 'busybox:1.36' };
    const patch = { metadata: { labels: { app: 'b' } }, spec: { ephemeralContainers: [look], hostNetwork: true } };
    const patched = await api.patch('pods', 'a', patch, { subresource: 'ephemeralcontainers', patchType: 'strategic' });
    expect(patched.spec.ephemeralContainers).toMatchObject([look]);
    expect(patched.spec.hostNetwork).toBeUndefined();
    expect(patched.metadata.labels).toEqual({ app: 'a' });
    const gone = api.patch('pods', 'a', { spec: { ephemeralContainers: [] } }, { subresource: 'ephemeralcontainers' });
    await expect(gone).rejects.toMatchObject({ message: expect.stringContaining('may not be removed') });
  });
});
