import { afterEach, beforeEach, expect, it } from 'vitest';
import { DOMAIN, recordLine } from '../../../../test/support/network/dns.ts';
import { ScriptedApi } from '../../../../test/support/scripted-api.ts';
import { silent } from '../../../base/log.ts';
import { systemRandom } from '../../../base/random.ts';
import { ControlledClock } from '../../../base/time/clock.ts';
import { createClient } from '../../../client/client.ts';
import { InformerFactory } from '../../../client/informer/informer-factory.ts';
import { Zone } from '../zone/zone.ts';
import { ZoneFeed } from './zone-feed.ts';

let api: ScriptedApi;
let zone: Zone;
let clock: ControlledClock;
let feed: ZoneFeed;
let stop: AbortController;
let reported: number;

const lines = (name: string) => zone.find(`${name}.${DOMAIN}`)?.map(recordLine);
const meta = (name: string, labels = {}) => ({ metadata: { name, namespace: 'shop', labels } });
const service = (name: string, spec: object) => ({ apiVersion: 'v1', kind: 'Service', ...meta(name), spec });
const slice = (address: string, of = 'web') => ({
  ...{ apiVersion: 'discovery.k8s.io/v1', kind: 'EndpointSlice', ...meta('s', { 'kubernetes.io/service-name': of }) },
  ...{ addressType: 'IPv4', ports: [], endpoints: [{ addresses: [address] }] },
});
const pod = (ip: string, more = {}) => ({
  ...{ apiVersion: 'v1', kind: 'Pod', ...meta('p'), status: { phase: 'Running', podIPs: [{ ip }], ...more } },
});

beforeEach(async () => {
  api = new ScriptedApi();
  zone = new Zone();
  clock = new ControlledClock();
  stop = new AbortController();
  reported = 0;
  const tools = { client: createClient(api), clock, random: systemRandom, log: silent, signal: stop.signal };
  feed = new ZoneFeed(new InformerFactory(tools), DOMAIN, (changes) => {
    reported += changes.length;
    for (const change of changes) zone.apply(change);
  });
  api.put('services', service('web', { type: 'ClusterIP', clusterIP: 'None' }));
  api.put('endpointslices', slice('10.0.0.1'));
  api.put('pods', pod('10.0.0.1'));
  await feed.start();
  await clock.advance(0);
});

afterEach(() => {
  feed.stop();
  stop.abort();
});

it('reports what there is, and what changes', async () => {
  expect(lines('web.shop.svc')).toEqual([`web.shop.svc.${DOMAIN} A 10.0.0.1`]);
  expect(lines('10-0-0-1.shop.pod')).toHaveLength(1);
  api.put('endpointslices', slice('10.0.0.2'));
  api.put('pods', pod('10.0.0.2'));
  await clock.advance(0);
  await clock.advance(0);
  expect(lines('web.shop.svc')).toEqual([`web.shop.svc.${DOMAIN} A 10.0.0.2`]);
  expect(lines('10-0-0-1.shop.pod')).toBeUndefined();
  api.remove('services', 'shop', 'web');
  await clock.advance(0);
  await clock.advance(0);
  expect(lines('web.shop.svc')).toBeUndefined();
});

it('a slice that goes to another service is removed from the first one', async () => {
  api.put('services', service('other', { type: 'ClusterIP', clusterIP: 'None' }));
  api.put('endpointslices', slice('10.0.0.1', 'other'));
  await clock.advance(0);
  await clock.advance(0);
  expect(lines('web.shop.svc')).toBeUndefined();
  expect(lines('other.shop.svc')).toHaveLength(1);
});

it('reports nothing for a pod whose address stays, and all of it when it is asked to', async () => {
  const before = reported;
  api.put('pods', pod('10.0.0.1', { message: 'other' }));
  await clock.advance(0);
  await clock.advance(0);
  expect(reported).toBe(before);
  zone = new Zone();
  feed.repeat();
  expect(lines('web.shop.svc')).toHaveLength(1);
  expect(lines('10-0-0-1.shop.pod')).toHaveLength(1);
});

it('names of federations follow the configuration, the nodes and the endpoints', async () => {
  const config = (federations: string) => ({
    ...{ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'kube-dns', namespace: 'kube-system' } },
    data: { federations },
  });
  const settle = async () => {
    for (let turn = 0; turn < 4; turn++) await clock.advance(0);
  };
  api.put('services', service('inner', { type: 'ClusterIP', clusterIP: '10.96.0.7' }));
  api.put('configmaps', config('fed=example.com'));
  await settle();
  expect(lines('web.shop.fed.svc')).toEqual([`web.shop.fed.svc.${DOMAIN} A 10.0.0.1`]);
  expect(lines('inner.shop.fed.svc')).toBeUndefined();
  expect(lines('fed.svc')).toEqual([expect.stringMatching(/ fed\.svc\.example\.com$/)]);
  const labels = { 'topology.kubernetes.io/zone': 'a', 'topology.kubernetes.io/region': 'r' };
  api.put('nodes', { apiVersion: 'v1', kind: 'Node', metadata: { name: 'n', labels } } as never);
  api.put('endpointslices', slice('10.0.0.9', 'inner'));
  await settle();
  expect(lines('fed.svc')).toEqual([expect.stringMatching(/ fed\.svc\.a\.r\.example\.com$/)]);
  expect(lines('inner.shop.fed.svc')).toEqual([`inner.shop.fed.svc.${DOMAIN} A 10.96.0.7`]);
  api.put('configmaps', config(''));
  await settle();
  expect([lines('fed.svc'), lines('inner.shop.fed.svc')]).toEqual([undefined, undefined]);
});
