import { afterEach, beforeEach, expect, it } from 'vitest';
import { type TestServer, testServer } from '../../../test/support/server.ts';
import { silent } from '../../base/log.ts';
import { systemRandom } from '../../base/random.ts';
import { systemClock } from '../../base/time/clock.ts';
import { createClient } from '../../client/client.ts';
import { INGRESS_CONTROLLER } from '../../client/component-users.ts';
import { directTransport } from '../../client/transport/direct-transport.ts';
import { allKinds } from '../../kinds/all.ts';
import type { IngressConfig } from './config.ts';
import { IngressController, type IngressControllerOptions } from './controller.ts';
import type { MovedPort } from './moved-port.ts';

let api: TestServer;
let controller: IngressController;
let configs: IngressConfig[];

beforeEach(async () => {
  configs = [];
  api = await testServer(allKinds, { authorization: ['RBAC'], defaultRoles: true });
  controller = controllerWith({ usual: 80, used: 34_567, why: 'in use' });
  await controller.start();
});
afterEach(() => controller.stop());

const controllerWith = (...movedPorts: readonly MovedPort[]) => controllerAt('192.0.2.1', { movedPorts });

const controllerAt = (address: string, options: Partial<IngressControllerOptions> = {}) =>
  new IngressController({
    client: createClient(directTransport(api.server.direct(INGRESS_CONTROLLER))),
    ...{ clock: systemClock, random: systemRandom, log: silent, address },
    policy: { sharesHosts: false, allowsExternalNames: false },
    use: async (config) => void configs.push(config),
    ...{ movedPorts: [], isShared: false, ...options },
  });

it('the controller reports its ports when other programs have the usual ones', async () => {
  const networking = { apiVersion: 'networking.k8s.io/v1' };
  const backend = { service: { name: 'web', port: { number: 80 } } };
  const spec = { ingressClassName: 'quarterdeck', defaultBackend: backend };
  await api.create('ingresses', { metadata: { name: 'web' }, spec }, networking);
  const ports = [
    { port: 80, protocol: 'TCP', error: 'PortInUse' },
    { port: 34_567, protocol: 'TCP' },
  ];
  await expect
    .poll(async () => (await api.get('ingresses', 'web', networking)).status?.loadBalancer)
    .toEqual({ ingress: [{ ip: '192.0.2.1', ports }] });
  await expect
    .poll(async () => (await api.list('events')).items.map((item) => JSON.parse(String(item.json()))))
    .toMatchObject([
      { involvedObject: { kind: 'IngressClass', name: 'quarterdeck' }, reason: 'PortInUse' },
      { involvedObject: { kind: 'Ingress', name: 'web' }, reason: 'ServiceNotFound' },
    ]);
});

it.each([
  ['forbidden', 'PortForbidden'],
  ['kept', 'PortKept'],
] as const)('the controller says why it does not listen on the usual port: %s', async (why, reason) => {
  await controller.stop();
  controller = controllerWith({ usual: 443, used: 34_568, why });
  await controller.start();
  await expect
    .poll(async () => (await api.list('events')).items.map((item) => JSON.parse(String(item.json())).reason))
    .toContain(reason);
});

it('the controllers of several servers agree on a status, which has the addresses of those that live', async () => {
  const servers = async (...addresses: readonly string[]) => {
    const labels = { 'kubernetes.io/service-name': 'kubernetes' };
    const endpoints = addresses.map((address) => ({ addresses: [address] }));
    const slice = { metadata: { name: 'kubernetes', labels }, addressType: 'IPv4', endpoints, ports: [] };
    const discovery = { apiVersion: 'discovery.k8s.io/v1' };
    const isThere = await api.get('endpointslices', 'kubernetes', discovery).catch(() => undefined);
    await (isThere ? api.update('endpointslices', slice, discovery) : api.create('endpointslices', slice, discovery));
  };
  const networking = { apiVersion: 'networking.k8s.io/v1' };
  const addresses = ['192.0.2.1', '192.0.2.2', '192.0.2.3'];
  await servers(...addresses);
  await controller.stop();
  const others = addresses.map((address) => controllerAt(address, { isShared: true }));
  for (const each of others) await each.start();
  const backend = { service: { name: 'web', port: { number: 80 } } };
  const spec = { ingressClassName: 'quarterdeck', defaultBackend: backend };
  await api.create('ingresses', { metadata: { name: 'web' }, spec }, networking);
  const found = async () => {
    const { metadata, status } = await api.get('ingresses', 'web', networking);
    const ips = status?.loadBalancer?.ingress?.map(({ ip }: { ip: string }) => ip) ?? [];
    return { ips: ips.sort(), version: Number(metadata.resourceVersion) };
  };
  await expect.poll(async () => (await found()).ips).toEqual(addresses);
  await others[0]!.stop();
  await servers(...addresses.slice(1));
  await expect.poll(async () => (await found()).ips).toEqual(addresses.slice(1));
  const { version } = await found();
  // What a fight would change.
  await api.create('ingresses', { metadata: { name: 'next' }, spec }, networking);
  await expect
    .poll(async () => (await api.get('ingresses', 'next', networking)).status?.loadBalancer?.ingress?.length)
    .toBe(2);
  expect((await found()).version).toBe(version);
  for (const each of others) await each.stop();
});

it('the controller follows Services and their EndpointSlices, also one that goes to another Service', async () => {
  const backends = () =>
    Object.fromEntries([...(configs.at(-1)?.backends ?? [])].map(([key, all]) => [key, all.length]));
  const backend = (name: string) => ({ service: { name, port: { number: 80 } } });
  const paths = ['one', 'two'].map((name) => ({ path: `/${name}`, pathType: 'Exact', backend: backend(name) }));
  const spec = { ingressClassName: 'quarterdeck', rules: [{ http: { paths } }] };
  await api.create('ingresses', { metadata: { name: 'web' }, spec }, { apiVersion: 'networking.k8s.io/v1' });
  await expect.poll(backends).toEqual({ 'default/one:80': 0, 'default/two:80': 0 });
  const rules = configs.at(-1)!.hosts.get('');
  for (const name of ['one', 'two']) {
    await api.create('services', { metadata: { name }, spec: { ports: [{ port: 80 }], clusterIP: 'None' } });
  }
  const slice = (service: string) => ({
    metadata: { name: 'slice', labels: { 'kubernetes.io/service-name': service } },
    ...{ addressType: 'IPv4', ports: [{ name: '', port: 80 }], endpoints: [{ addresses: ['10.0.0.1'] }] },
  });
  const discovery = { apiVersion: 'discovery.k8s.io/v1' };
  await api.create('endpointslices', slice('one'), discovery);
  await expect.poll(backends).toEqual({ 'default/one:80': 1, 'default/two:80': 0 });
  await api.update('endpointslices', slice('two'), discovery);
  await expect.poll(backends).toEqual({ 'default/one:80': 0, 'default/two:80': 1 });
  expect(configs.at(-1)!.hosts.get('')).toBe(rules);
});

it('an event on an Ingress explains why its host and its backend are not served', async () => {
  const networking = { apiVersion: 'networking.k8s.io/v1' };
  const rules = (name: string) => {
    const backend = { service: { name, port: { number: 80 } } };
    return [{ host: 'shop.example', http: { paths: [{ path: '/', pathType: 'Prefix', backend }] } }];
  };
  const create = (namespace: string, name: string) =>
    api.create(
      'ingresses',
      { metadata: { name }, spec: { ingressClassName: 'quarterdeck', rules: rules(name) } },
      { ...networking, namespace },
    );
  for (const name of ['blue', 'red']) await api.create('namespaces', { metadata: { name } }, { namespace: '' });
  const spec = { type: 'ExternalName', externalName: 'localhost' };
  await api.create('services', { metadata: { name: 'out' }, spec }, { namespace: 'red' });
  await create('blue', 'shop');
  await expect.poll(() => configs.at(-1)?.owners.get('shop.example')).toBe('blue');
  await create('red', 'out');
  const events = async () => {
    const { items } = await api.list('events', { namespace: 'red' });
    return items
      .map((item) => JSON.parse(String(item.json())))
      .map(({ reason, involvedObject: { kind, name } }) => [kind, name, reason]);
  };
  const reported = [
    ['Ingress', 'out', 'ExternalNameNotAllowed'],
    ['Ingress', 'out', 'HostTaken'],
  ];
  await expect.poll(async () => (await events()).sort()).toEqual(reported);
  // Events are recorded once for each state: other changes, and the same problem of another plan, repeat none.
  await create('red', 'gone');
  await expect
    .poll(async () => (await events()).sort())
    .toEqual([['Ingress', 'gone', 'HostTaken'], ['Ingress', 'gone', 'ServiceNotFound'], ...reported]);
  expect(
    configs
      .at(-1)
      ?.hosts.get('shop.example')
      ?.map(({ backend }) => backend),
  ).toEqual(['blue/shop:80']);
});
