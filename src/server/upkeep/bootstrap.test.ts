import { expect, it } from 'vitest';
import { testServer } from '../../../test/support/server.ts';
import { ApiError, isApiError } from '../../api/errors.ts';
import { allKinds } from '../../kinds/all.ts';

const cluster = { namespace: '' };

it.each<[plural: string, name: string, where: object]>([
  ['namespaces', 'kube-node-lease', cluster],
  ['services', 'kubernetes', {}],
  ['endpoints', 'kubernetes', {}],
  ['endpointslices', 'kubernetes', { apiVersion: 'discovery.k8s.io/v1' }],
  ['servicecidrs', 'kubernetes', { apiVersion: 'networking.k8s.io/v1', namespace: '' }],
])('%s: %s is recreated when it is deleted', async (plural, name, where) => {
  const server = await testServer(allKinds, { advertise: { address: '192.0.2.1', port: 6443 } });
  const { uid } = (await server.get(plural, name, where)).metadata;
  await server.delete(plural, name, where);
  if (plural === 'namespaces') {
    const body = { ...(await server.get(plural, name, where)), spec: { finalizers: [] } };
    await server.update(plural, body, { ...where, subresource: 'finalize' });
  }
  const found = async () => {
    try {
      return (await server.get(plural, name, where)).metadata.uid;
    } catch (error) {
      if (isApiError(error, 'NotFound')) return uid;
      throw error;
    }
  };
  await expect.poll(found).not.toBe(uid);
});

it('an initial object is recreated although the first attempt fails', async () => {
  let failures = 0;
  const server = await testServer(allKinds, {
    advertise: { address: '192.0.2.1', port: 6443 },
    intercept: (handle) => (call, notes) => {
      const isRecreation = failures > 0 && call.verb === 'create' && call.plural === 'servicecidrs';
      if (!isRecreation) return handle(call, notes);
      failures--;
      throw new ApiError('InternalError', 'the disk is full');
    },
  });
  const where = { apiVersion: 'networking.k8s.io/v1', namespace: '' };
  failures = 2;
  await server.delete('servicecidrs', 'kubernetes', where);
  const count = async () => {
    await server.clock.advance(1000);
    return (await server.list('servicecidrs', where)).items.length;
  };
  await expect.poll(count).toBe(1);
  expect(failures).toBe(0);
});

it('a ServiceCIDR contains the range of cluster IPs of services', async () => {
  const options = {
    advertise: { address: '192.0.2.1', port: 6443 },
    serviceClusterIpRange: '10.7.3.9/16,fd00:7::/112',
  };
  const server = await testServer(allKinds, options);
  const range = await server.get('servicecidrs', 'kubernetes', { apiVersion: 'networking.k8s.io/v1', namespace: '' });
  expect(range).toMatchObject({
    spec: { cidrs: ['10.7.0.0/16', 'fd00:7::/112'] },
    status: { conditions: [{ type: 'Ready', status: 'True', lastTransitionTime: expect.any(String) }] },
  });
});
