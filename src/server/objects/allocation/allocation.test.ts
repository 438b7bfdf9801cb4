import { beforeEach, describe, expect, it } from 'vitest';
import { type TestServer, testServer } from '../../../../test/support/server.ts';
import { isApiError } from '../../../api/errors.ts';
import { allKinds } from '../../../kinds/all.ts';

const CLUSTER = { apiVersion: 'networking.k8s.io/v1', namespace: '' };
const service = (name: string, spec: object = {}) => ({ metadata: { name }, spec: { ports: [{ port: 80 }], ...spec } });
const OPTIONS = { advertise: { address: '192.0.2.1', port: 6443 }, serviceClusterIpRange: '10.7.0.0/29' };

let api: TestServer;

beforeEach(async () => {
  api = await testServer(allKinds, OPTIONS);
});

const addresses = async () => (await api.list('ipaddresses', CLUSTER)).items.map(({ metadata }) => metadata.name);
const found = async (name: string) => {
  try {
    return await api.get('ipaddresses', name, CLUSTER);
  } catch (error) {
    if (isApiError(error, 'NotFound')) return undefined;
    throw error;
  }
};

async function addRange(name: string, cidrs: string[], status = 'True'): Promise<void> {
  await api.create('servicecidrs', { metadata: { name }, spec: { cidrs } }, CLUSTER);
  await setReady(name, status);
}

async function setReady(name: string, status: string): Promise<void> {
  const ready = { type: 'Ready', status, reason: '', message: '', lastTransitionTime: '2030-01-01T00:00:00Z' };
  await api.patch('servicecidrs', name, { status: { conditions: [ready] } }, { ...CLUSTER, subresource: 'status' });
}

/** Takes the five addresses that the service `kubernetes` leaves free. */
async function fill(): Promise<void> {
  for (const name of ['a', 'b', 'c', 'd', 'e']) await api.create('services', service(name));
}

const FULL = { code: 422, message: expect.stringContaining('range is full') };

describe('an address of a service', () => {
  it('is an IPAddress while the service has it', async () => {
    expect(await addresses()).toEqual(['10.7.0.1']);
    const { spec } = await api.create('services', service('a'));
    expect(await api.get('ipaddresses', spec.clusterIP, CLUSTER)).toMatchObject({
      apiVersion: 'networking.k8s.io/v1',
      kind: 'IPAddress',
      metadata: {
        name: spec.clusterIP,
        uid: expect.any(String),
        labels: {
          'ipaddress.kubernetes.io/ip-family': 'IPv4',
          'ipaddress.kubernetes.io/managed-by': 'ipallocator.k8s.io',
        },
      },
      spec: { parentRef: { resource: 'services', namespace: 'default', name: 'a' } },
    });
    await api.delete('services', 'a');
    expect(await addresses()).toEqual(['10.7.0.1']);
  });

  it('changes with the type of the service', async () => {
    const { spec } = await api.create('services', service('a'));
    await api.patch('services', 'a', { spec: { type: 'ExternalName', externalName: 'x.test', clusterIP: null } });
    expect(await found(spec.clusterIP)).toBeUndefined();
    await api.patch('services', 'a', { spec: { type: 'ClusterIP', externalName: null } });
    expect(await addresses()).toHaveLength(2);
  });

  it('is not one that a client has reserved', async () => {
    const parentRef = { resource: 'machines', name: 'm' };
    await api.create('ipaddresses', { metadata: { name: '10.7.0.3' }, spec: { parentRef } }, CLUSTER);
    await expect(api.create('services', service('a', { clusterIP: '10.7.0.3' }))).rejects.toMatchObject({
      code: 422,
      message: expect.stringContaining('provided IP is already allocated'),
    });
    for (const name of ['a', 'b', 'c', 'd']) await api.create('services', service(name));
    await expect(api.create('services', service('e'))).rejects.toMatchObject(FULL);
  });

  it('is kept when its IPAddress is deleted', async () => {
    const { spec } = await api.create('services', service('a'));
    const { metadata } = await api.get('ipaddresses', spec.clusterIP, CLUSTER);
    await api.delete('ipaddresses', spec.clusterIP, CLUSTER);
    await expect.poll(async () => (await found(spec.clusterIP))?.spec.parentRef.name).toBe('a');
    expect((await found(spec.clusterIP)).metadata.uid).not.toBe(metadata.uid);
  });

  it('is left to another owner that the IPAddress names', async () => {
    const { spec } = await api.create('services', service('a'));
    api.server.close();
    const parentRef = { resource: 'services', namespace: 'default', name: 'b' };
    const other = { metadata: { name: spec.clusterIP }, spec: { parentRef } };
    const row = await api.store.get(`/registry/networking.k8s.io/ipaddresses/${spec.clusterIP}`);
    expect(JSON.parse(row!.value.toString())).toMatchObject({ spec: { parentRef: { name: 'a' } } });
    const value = Buffer.from(JSON.stringify({ kind: 'IPAddress', apiVersion: 'networking.k8s.io/v1', ...other }));
    await api.store.commit([{ key: row!.key, value }]);
    api = await testServer(allKinds, { ...OPTIONS, store: api.store, clock: api.clock });
    await api.delete('services', 'a');
    expect((await found(spec.clusterIP)).spec.parentRef.name).toBe('b');
  });
});

describe('an additional range', () => {
  it('is used when the first is full, and only while it is ready', async () => {
    await fill();
    await expect(api.create('services', service('x'))).rejects.toMatchObject(FULL);
    await api.create('servicecidrs', { metadata: { name: 'more' }, spec: { cidrs: ['10.8.0.0/24'] } }, CLUSTER);
    await expect(api.create('services', service('x'))).rejects.toMatchObject(FULL);
    await setReady('more', 'True');
    expect((await api.create('services', service('x'))).spec.clusterIP).toMatch(/^10\.8\.0\./);
    await setReady('more', 'False');
    await expect(api.create('services', service('y'))).rejects.toMatchObject(FULL);
  });

  it('contains addresses that services request', async () => {
    const asked = service('x', { clusterIP: '10.8.0.9' });
    await expect(api.create('services', asked)).rejects.toMatchObject({
      code: 422,
      message:
        'Service "x" is invalid: spec.clusterIPs: Invalid value: ["10.8.0.9"]: failed to allocate IP 10.8.0.9: the provided network does not match the current range',
    });
    await addRange('more', ['10.8.0.0/24']);
    expect((await api.create('services', asked)).spec.clusterIP).toBe('10.8.0.9');
  });

  it('may be too small for any address', async () => {
    await fill();
    await addRange('one', ['10.8.0.1/32']);
    await addRange('two', ['10.8.1.0/31']);
    await expect(api.create('services', service('x'))).rejects.toMatchObject(FULL);
  });

  it('may be larger than the number of addresses to choose from', async () => {
    await addRange('more', ['11.0.0.0/8']);
    expect((await api.create('services', service('x', { clusterIP: '11.250.0.1' }))).spec.clusterIP).toBe('11.250.0.1');
  });
});

it('a range that is being deleted allocates no more addresses', async () => {
  await api.patch('servicecidrs', 'kubernetes', { metadata: { finalizers: ['example.com/hold'] } }, CLUSTER);
  await api.delete('servicecidrs', 'kubernetes', CLUSTER);
  await expect(api.create('services', service('x'))).rejects.toMatchObject(FULL);
  await addRange('again', ['10.7.0.0/29']);
  expect((await api.create('services', service('x'))).spec.clusterIP).toMatch(/^10\.7\.0\./);
});

it('leaves the first addresses and ports to services that request them, while others are free', async () => {
  api = await testServer(allKinds, { serviceClusterIpRange: '10.7.0.0/27', serviceNodePortRange: '30000-30019' });
  const names = Array.from({ length: 14 }, (_, index) => `s${index}`);
  const clusterIPs: string[] = [];
  for (const name of names) clusterIPs.push((await api.create('services', service(name))).spec.clusterIP);
  expect(clusterIPs.map((each) => Number(each.split('.')[3])).sort((a, b) => a - b)[0]).toBe(17);
  expect((await api.create('services', service('more'))).spec.clusterIP).toMatch(/^10\.7\.0\.([1-9]|1[0-6])$/);
  const ports: number[] = [];
  for (const name of names.slice(0, 5)) {
    const { spec } = await api.patch('services', name, { spec: { type: 'NodePort' } });
    ports.push(spec.ports[0].nodePort);
  }
  expect(ports.slice(0, 4).every((port) => port >= 30016)).toBe(true);
  expect(ports[4]).toBeLessThan(30016);
});
