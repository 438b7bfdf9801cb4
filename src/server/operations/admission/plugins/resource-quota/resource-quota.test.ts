import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { admitting, podNamed, putStatus, rejection } from '../../../../../../test/support/admission.ts';
import type { TestServer } from '../../../../../../test/support/server.ts';
import { ControlledClock } from '../../../../../base/time/clock.ts';
import { openEmbeddedStore } from '../../../../../store/embedded/open.ts';
import { MemoryStore } from '../../../../../store/memory/memory-store.ts';
import { priority } from '../pods/priority.ts';
import { resourceQuota } from './resource-quota.ts';

const withResources = (name: string, requests: object, limits: object = {}, more: object = {}) =>
  podNamed(name, { containers: [{ name: 'c', image: 'nginx:1', resources: { requests, limits } }], ...more });

/** Creates a quota that the controller has already processed. */
async function quota(server: TestServer, name: string, hard: object, spec: object = {}, used: object = {}) {
  await server.create('resourcequotas', { metadata: { name }, spec: { hard, ...spec } });
  const none = Object.fromEntries(Object.keys(hard).map((each) => [each, '0']));
  await putStatus(server, 'resourcequotas', name, { hard, used: { ...none, ...used } });
}

const usedOf = async (server: TestServer, name: string) => (await server.get('resourcequotas', name)).status.used;

describe('a quota', () => {
  it('counts created objects, and rejects those that would exceed it', async () => {
    const server = await admitting([resourceQuota]);
    await quota(server, 'q', { pods: '2' });
    await server.create('pods', podNamed('a'));
    await server.create('pods', podNamed('b'));
    expect(await usedOf(server, 'q')).toEqual({ pods: '2' });
    expect(await rejection(server.create('pods', podNamed('c')))).toBe(
      'pods "c" is forbidden: exceeded quota: q, requested: pods=1, used: pods=2, limited: pods=2',
    );
    const generated = { metadata: { generateName: 'web-' }, spec: podNamed('').spec };
    expect(await rejection(server.create('pods', generated))).toMatch(
      /^pods "web-[a-z0-9]{5}" is forbidden: exceeded quota: q,/,
    );
    expect((await server.list('pods')).items).toHaveLength(2);
  });

  it('names all exceeded resources, in order', async () => {
    const server = await admitting([resourceQuota]);
    await quota(
      server,
      'q',
      { 'requests.cpu': '1', 'limits.memory': '1Gi', pods: '9' },
      {},
      { 'requests.cpu': '800m' },
    );
    const pod = withResources('a', { cpu: '500m', memory: '1Gi' }, { memory: '2Gi' });
    expect(await rejection(server.create('pods', pod))).toBe(
      'pods "a" is forbidden: exceeded quota: q, requested: limits.memory=2Gi,requests.cpu=500m, ' +
        'used: limits.memory=0,requests.cpu=800m, limited: limits.memory=1Gi,requests.cpu=1',
    );
  });

  it('requires pods to set requests for cpu and memory', async () => {
    const server = await admitting([resourceQuota]);
    await quota(server, 'q', { 'requests.cpu': '1', 'limits.memory': '1Gi', 'requests.ephemeral-storage': '1Gi' });
    const pod = podNamed('a', {
      containers: [
        { name: 'd', image: 'x', resources: { requests: { cpu: '1' } } },
        { name: 'c', image: 'x' },
      ],
    });
    expect(await rejection(server.create('pods', pod))).toBe(
      'pods "a" is forbidden: failed quota: q: must specify limits.memory for: c,d; requests.cpu for: c',
    );
  });

  it('applies once the controller has set its status, and rejects everything until usage is known', async () => {
    const server = await admitting([resourceQuota]);
    await server.create('resourcequotas', { metadata: { name: 'q' }, spec: { hard: { pods: '1' } } });
    await server.create('pods', podNamed('early'));
    await putStatus(server, 'resourcequotas', 'q', { hard: { pods: '1' } });
    expect(await rejection(server.create('pods', podNamed('a')))).toBe(
      'pods "a" is forbidden: status unknown for quota: q, resources: pods',
    );
  });

  it('counts objects of any kind, by plural name where it has one', async () => {
    const server = await admitting([resourceQuota]);
    await quota(server, 'q', { 'count/deployments.apps': '1', configmaps: '1', 'count/configmaps': '5' });
    const spec = {
      selector: { matchLabels: { a: 'b' } },
      template: { metadata: { labels: { a: 'b' } }, spec: podNamed('').spec },
    };
    const deployment = (name: string) => ({ metadata: { name }, spec });
    await server.create('deployments', deployment('a'), { apiVersion: 'apps/v1' });
    expect(await rejection(server.create('deployments', deployment('b'), { apiVersion: 'apps/v1' }))).toBe(
      'deployments.apps "b" is forbidden: exceeded quota: q, requested: count/deployments.apps=1, ' +
        'used: count/deployments.apps=1, limited: count/deployments.apps=1',
    );
    await server.create('configmaps', { metadata: { name: 'a' } });
    expect(await rejection(server.create('configmaps', { metadata: { name: 'b' } }))).toContain(
      'requested: configmaps=1',
    );
    expect(await usedOf(server, 'q')).toEqual({
      'count/deployments.apps': '1',
      configmaps: '1',
      'count/configmaps': '1',
    });
  });

  it('counts node ports and load balancers, also when a service changes its type', async () => {
    const server = await admitting([resourceQuota]);
    await quota(server, 'q', { 'services.nodeports': '1', 'services.loadbalancers': '1', services: '5' });
    const ports = (count: number) => Array.from({ length: count }, (_, i) => ({ name: `p${i}`, port: 80 + i }));
    const service = (name: string, spec: object) => ({ metadata: { name }, spec: { selector: { a: 'b' }, ...spec } });
    await server.create('services', service('a', { ports: ports(2) }));
    expect(await rejection(server.patch('services', 'a', { spec: { type: 'NodePort' } }))).toContain(
      'requested: services.nodeports=2, used: services.nodeports=0, limited: services.nodeports=1',
    );
    const balancer = { type: 'LoadBalancer', allocateLoadBalancerNodePorts: false, ports: ports(2) };
    await server.create('services', service('b', balancer));
    expect(await usedOf(server, 'q')).toEqual({
      'services.nodeports': '0',
      'services.loadbalancers': '1',
      services: '2',
    });
  });

  it('counts storage by class', async () => {
    const server = await admitting([resourceQuota]);
    const gold = 'gold.storageclass.storage.k8s.io';
    await quota(server, 'q', {
      'requests.storage': '10Gi',
      [`${gold}/requests.storage`]: '5Gi',
      [`${gold}/persistentvolumeclaims`]: '5',
    });
    const claim = (name: string, storageClassName: string, storage: string) => ({
      metadata: { name },
      spec: { storageClassName, accessModes: ['ReadWriteOnce'], resources: { requests: { storage } } },
    });
    await server.create('persistentvolumeclaims', claim('a', 'gold', '4Gi'));
    await server.create('persistentvolumeclaims', claim('b', 'other', '4Gi'));
    expect(await rejection(server.create('persistentvolumeclaims', claim('c', 'gold', '2Gi')))).toContain(
      `requested: ${gold}/requests.storage=2Gi, used: ${gold}/requests.storage=4Gi, limited: ${gold}/requests.storage=5Gi`,
    );
    expect(await usedOf(server, 'q')).toEqual({
      'requests.storage': '8Gi',
      [`${gold}/requests.storage`]: '4Gi',
      [`${gold}/persistentvolumeclaims`]: '1',
    });
  });

  it('counts only objects in its scopes', async () => {
    const server = await admitting([resourceQuota]);
    await quota(server, 'best', { pods: '1' }, { scopes: ['BestEffort'] });
    await quota(server, 'ending', { pods: '1' }, { scopes: ['Terminating'] });
    await server.create('pods', podNamed('a'));
    await server.create('pods', withResources('b', { cpu: '1' }, {}, { activeDeadlineSeconds: 5 }));
    await server.create('pods', withResources('c', { cpu: '1' }));
    expect(await usedOf(server, 'best')).toEqual({ pods: '1' });
    expect(await usedOf(server, 'ending')).toEqual({ pods: '1' });
    // Objects that enter a scope later are counted then.
    expect(await rejection(server.patch('pods', 'c', { spec: { activeDeadlineSeconds: 5 } }))).toContain(
      'exceeded quota: ending',
    );
  });

  it('counts pods of a priority class', async () => {
    const server = await admitting([priority, resourceQuota]);
    const classes = { apiVersion: 'scheduling.k8s.io/v1', namespace: '' };
    await server.create('priorityclasses', { metadata: { name: 'high' }, value: 10 }, classes);
    const expression = { scopeName: 'PriorityClass', operator: 'In', values: ['high'] };
    await quota(server, 'q', { pods: '1' }, { scopeSelector: { matchExpressions: [expression] } });
    await server.create('pods', podNamed('low'));
    await server.create('pods', podNamed('a', { priorityClassName: 'high' }));
    expect(await rejection(server.create('pods', podNamed('b', { priorityClassName: 'high' })))).toContain(
      'exceeded quota',
    );
  });

  it('stays unchanged when the object is not written', async () => {
    const server = await admitting([resourceQuota]);
    await quota(server, 'q', { configmaps: '3' });
    await server.create('configmaps', { metadata: { name: 'a' } });
    await expect(server.create('configmaps', { metadata: { name: 'a' } })).rejects.toThrow('already exists');
    await server.create('configmaps', { metadata: { name: 'b' } }, { options: { dryRun: ['All'] } });
    expect(await usedOf(server, 'q')).toEqual({ configmaps: '1' });
  });
});

describe('a quota under 50 writers', () => {
  const cleanups: (() => Promise<unknown>)[] = [];
  afterEach(async () => {
    for (const each of cleanups.splice(0).reverse()) await each();
  });

  const stores = {
    memory: async (clock: ControlledClock) => new MemoryStore({ clock }),
    embedded: async (clock: ControlledClock) => {
      const directory = await mkdtemp(join(tmpdir(), 'quota-'));
      cleanups.push(() => rm(directory, { recursive: true }));
      return openEmbeddedStore({ directory, clock });
    },
  };

  it.each(['memory', 'embedded'] as const)('is never exceeded, and is used up (%s)', async (name) => {
    const clock = new ControlledClock();
    const store = await stores[name](clock);
    cleanups.push(() => store.close());
    const server = await admitting([resourceQuota], { store, clock });
    cleanups.push(async () => server.server.close());
    await quota(server, 'q', { pods: '20', 'requests.cpu': '10' });
    const outcomes = await Promise.allSettled(
      Array.from({ length: 50 }, (_, i) => server.create('pods', withResources(`p${i}`, { cpu: '500m' }))),
    );
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(20);
    expect((await server.list('pods')).items).toHaveLength(20);
    expect(await usedOf(server, 'q')).toEqual({ pods: '20', 'requests.cpu': '10' });
    const rejected = outcomes.filter((each) => each.status === 'rejected').map(({ reason }) => reason.message);
    expect(rejected.every((message) => message.includes('exceeded quota: q'))).toBe(true);
  });
});
