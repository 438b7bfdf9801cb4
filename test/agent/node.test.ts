/** Tests the Node object, its lease and conditions, and the rights of the agent. */
import { afterEach, expect, test, vi } from 'vitest';
import { Lease } from '../../src/kinds/groups/coordination/lease.ts';
import { Event } from '../../src/kinds/groups/core/event/event.ts';
import { Node } from '../../src/kinds/groups/core/node/node.ts';
import type { Pressure } from '../../src/node/machine/pressure/conditions.ts';
import { type AgentCluster, agentCluster } from '../support/agent.ts';

let cluster: AgentCluster;
/** Ends a watch that a test has made silent. */
let endWatch = () => {};
afterEach(async () => {
  endWatch();
  await cluster.stop();
});

const node = () => cluster.client.of(Node).get('n1');
const conditions = async () =>
  Object.fromEntries(
    (await node()).status.conditions!.map(({ type, status, reason }) => [type, `${status} ${reason}`]),
  );
const leases = () => cluster.client.of(Lease).in('kube-node-lease');
const nodeEvents = async () =>
  (await cluster.client.of(Event).in('default').list()).items
    .filter(({ involvedObject }) => involvedObject.kind === 'Node')
    .map(({ reason, message }) => `${reason}: ${message}`);
const isReady = (pod: any) =>
  pod?.status.conditions?.some((each: any) => each.type === 'Ready' && each.status === 'True');

const machineWith = (pressures: () => readonly Pressure[]) => {
  const resources = { cpu: '4', memory: '8Gi', pods: '110' };
  return { describe: async () => ({ capacity: resources, allocatable: resources, nodeInfo: {} }), pressures };
};

test('it registers with labels, addresses, resources, images and conditions', async () => {
  cluster = await agentCluster();
  const { metadata, status } = await node();
  expect(metadata.labels).toMatchObject({ 'kubernetes.io/hostname': 'n1', 'kubernetes.io/os': 'linux' });
  expect(status).toMatchObject({
    addresses: [{ type: 'InternalIP', address: '192.0.2.1' }],
    allocatable: { cpu: '4', memory: '8Gi', pods: '110' },
    images: [{ names: ['nginx:1'], sizeBytes: 10 }],
    nodeInfo: { containerRuntimeVersion: 'fake://1.0' },
  });
  expect(await conditions()).toEqual({ Ready: 'True KubeletReady' });
  await cluster.clock.advance(1_000);
  expect(await nodeEvents()).toContain('Starting: Starting kubelet.');
});

test('the lease is renewed every ten seconds, belongs to the node, and is created again', async () => {
  cluster = await agentCluster();
  const { clock } = cluster;
  await clock.advance(1_000);
  const first = await leases().get('n1');
  expect(first.metadata.ownerReferences).toMatchObject([
    { kind: 'Node', name: 'n1', uid: (await node()).metadata.uid },
  ]);
  expect(first.spec).toMatchObject({ holderIdentity: 'n1', leaseDurationSeconds: 40 });
  await clock.advance(10_000);
  const second = await leases().get('n1');
  expect(Date.parse(second.spec!.renewTime!) - Date.parse(first.spec!.renewTime!)).toBe(10_000);
  await leases().delete('n1');
  await clock.advance(10_000);
  expect((await leases().get('n1')).spec?.holderIdentity).toBe('n1');
});

test('a runtime that is down makes the node not ready, and pods go on when it is back', async () => {
  cluster = await agentCluster();
  const { runtime, clock, run, until } = cluster;
  await run('web');
  await until('web', isReady);
  runtime.health = () => Promise.reject(new Error('connection refused'));
  runtime.notify();
  await clock.advance(100);
  expect(await conditions()).toEqual({ Ready: 'False KubeletNotReady' });
  expect((await node()).status.conditions![0]!.message).toBe('container runtime is down: connection refused');
  runtime.health = async () => ({ isReady: true, isNetworkReady: true });
  await clock.advance(10_000);
  expect(await conditions()).toEqual({ Ready: 'True KubeletReady' });
  const told = await nodeEvents();
  expect(told).toContain('NodeNotReady: Node n1 status is now: NodeNotReady');
  expect(told).toContain('NodeReady: Node n1 status is now: NodeReady');
  expect(runtime.started).toEqual(['web/c/0']);
});

test('pressure is a condition, and pods without requests are not admitted under it', async () => {
  let isPressed = false;
  const pressure = (): Pressure[] => [
    { type: 'MemoryPressure', isPressed, reason: isPressed ? 'KubeletHasInsufficientMemory' : 'Fine', message: '' },
  ];
  cluster = await agentCluster({ machine: machineWith(pressure) });
  const { clock, run, until } = cluster;
  expect(await conditions()).toMatchObject({ MemoryPressure: 'False Fine' });
  isPressed = true;
  await clock.advance(10_000);
  expect(await conditions()).toMatchObject({ MemoryPressure: 'True KubeletHasInsufficientMemory' });
  await run('greedy');
  const { status } = await until('greedy', (pod) => pod.status.phase === 'Failed');
  expect(status).toMatchObject({
    reason: 'Evicted',
    message: 'Pod was rejected: The node had condition: [MemoryPressure]. ',
  });
  const resources = { requests: { memory: '1Mi' } };
  await run('modest', { spec: { containers: [{ name: 'c', image: 'nginx:1', resources }] } });
  await until('modest', isReady);
});

test('the status is written when it changes, and every five minutes', async () => {
  cluster = await agentCluster();
  const { clock, runtime } = cluster;
  await clock.advance(11_000);
  const { resourceVersion } = (await node()).metadata;
  await clock.advance(60_000);
  expect((await node()).metadata.resourceVersion).toBe(resourceVersion);
  runtime.present.add('big:1');
  await clock.advance(10_000);
  expect((await node()).status.images).toHaveLength(2);
  const changed = (await node()).metadata.resourceVersion;
  await clock.advance(310_000);
  expect((await node()).metadata.resourceVersion).not.toBe(changed);
});

/** Writes what the node controller writes for a node that is silent. */
async function markUnknown(): Promise<void> {
  const unknown = { type: 'Ready', status: 'Unknown', reason: 'NodeStatusUnknown', message: 'Kubelet stopped.' };
  const changes = { status: { conditions: [unknown] } };
  await cluster.client.of(Node).patchStatus('n1', { type: 'strategic', changes });
}

test('a node that the node controller has marked as unknown is ready again at once, with one write', async () => {
  cluster = await agentCluster();
  const { clock, calls } = cluster;
  await clock.advance(11_000);
  calls.length = 0;
  await markUnknown();
  await clock.advance(0);
  expect(await conditions()).toEqual({ Ready: 'True KubeletReady' });
  await clock.advance(60_000);
  expect(calls.filter((call) => call === 'patch nodes/status')).toHaveLength(1);
  expect(await nodeEvents()).toContain('NodeReady: Node n1 status is now: NodeReady');
});

test('a node that was marked as unknown while its agent reached no server is ready again when the lease is renewed', async () => {
  cluster = await agentCluster();
  const { clock, api } = cluster;
  await clock.advance(11_000);
  api.isDown = true;
  await clock.advance(45_000);
  await markUnknown();
  await clock.advance(15_000);
  expect(await conditions()).toEqual({ Ready: 'Unknown NodeStatusUnknown' });
  api.isDown = false;
  const start = clock.now();
  await vi.waitFor(async () => {
    await clock.advance(100);
    expect(await conditions()).toEqual({ Ready: 'True KubeletReady' });
  });
  expect(clock.now() - start).toBeLessThanOrEqual(1_000);
});

test('a node that was marked as unknown is ready again within ten seconds although its watch is silent', async () => {
  cluster = await agentCluster();
  const { clock, api } = cluster;
  const isStopped = new Promise<void>((resolve) => {
    endWatch = resolve;
  });
  api.beforeAnswer = async (name) => {
    if (name === 'watch nodes') await isStopped;
  };
  await cluster.restart();
  await clock.advance(11_000);
  await markUnknown();
  await clock.advance(10_000);
  expect(await conditions()).toEqual({ Ready: 'True KubeletReady' });
});

test('a status that another client writes without end is corrected every ten seconds', async () => {
  cluster = await agentCluster();
  const { clock, api, calls } = cluster;
  await clock.advance(11_000);
  calls.length = 0;
  api.beforeAnswer = async (name) => {
    if (name === 'patch nodes/status') await markUnknown();
  };
  await markUnknown();
  await clock.advance(100_000);
  expect(calls.filter((call) => call === 'patch nodes/status').length).toBeLessThanOrEqual(11);
  api.beforeAnswer = undefined;
  await clock.advance(10_000);
  expect(await conditions()).toEqual({ Ready: 'True KubeletReady' });
});

test('addresses and resources that another client overwrites are corrected, and its own conditions stay', async () => {
  cluster = await agentCluster();
  const { clock, client } = cluster;
  await clock.advance(11_000);
  const conditions = [{ type: 'example.com/Fine', status: 'True' }];
  const addresses = [{ type: 'InternalIP', address: '192.0.2.9' }];
  const changes = { status: { addresses, allocatable: { cpu: '1' }, conditions } };
  await client.of(Node).patchStatus('n1', { type: 'merge', changes });
  await clock.advance(10_000);
  const { status } = await node();
  expect(status.addresses).toEqual([{ type: 'InternalIP', address: '192.0.2.1' }]);
  expect(status.allocatable).toMatchObject({ cpu: '4' });
  expect(status.conditions!.map(({ type }) => type).sort()).toEqual(['Ready', 'example.com/Fine']);
});

test('it does only what a node may do', async () => {
  cluster = await agentCluster();
  const { run, until, calls, complaints, client } = cluster;
  const { ConfigMap } = await import('../../src/kinds/groups/core/configuration/config-map.ts');
  const { Secret } = await import('../../src/kinds/groups/core/configuration/secret.ts');
  await client
    .of(ConfigMap)
    .in('default')
    .create({ metadata: { name: 'settings' }, data: { A: '1' } } as any);
  await client
    .of(Secret)
    .in('default')
    .create({ metadata: { name: 'keys' }, data: { B: 'MQ==' } } as any);
  await client
    .of(Secret)
    .in('default')
    .create({ metadata: { name: 'foreign' }, data: { B: 'MQ==' } } as any);
  const envFrom = [{ configMapRef: { name: 'settings' } }, { secretRef: { name: 'keys' } }];
  await run('web', { spec: { containers: [{ name: 'c', image: 'nginx:1', envFrom }] } });
  await until('web', isReady);
  await cluster.delete('web');
  await until('web', (pod) => pod === undefined);
  expect(complaints).toEqual([]);
  const writes = new Set(calls.filter((call) => !/^(get|list|watch) /.test(call)));
  const known = ['create csinodes', 'create events', 'create leases', 'create nodes', 'delete pods', 'patch leases'];
  expect([...writes].filter((call) => !known.includes(call))).toEqual(['patch pods/status']);
  // It reads the objects that its pods refer to one by one, and lists no secrets.
  expect(calls).toContain('get secrets');
  expect(calls).not.toContain('list secrets');
  expect(calls).not.toContain('list configmaps');
});

test('it ends its reports when another machine has taken over the node', async () => {
  const onTaken = vi.fn();
  const owner = 'example.org/owner';
  cluster = await agentCluster({
    settings: {
      ...{ name: 'n1', addresses: [{ type: 'InternalIP', address: '192.0.2.1' }], labels: {}, taints: [] },
      ...{ podCIDRs: [], port: undefined, annotations: { [owner]: 'this' } },
      ownership: { annotation: owner, id: 'this', onTaken },
    },
  });
  const { client, clock, calls } = cluster;
  await clock.advance(20_000);
  expect(onTaken).not.toHaveBeenCalled();
  await client.of(Node).patch('n1', { type: 'merge', changes: { metadata: { annotations: { [owner]: 'other' } } } });
  await clock.advance(10_000);
  expect(onTaken).toHaveBeenCalledOnce();
  const addresses = [{ type: 'InternalIP', address: '192.0.2.2' }];
  await client.of(Node).patchStatus('n1', { type: 'merge', changes: { status: { addresses } } });
  calls.length = 0;
  await clock.advance(600_000);
  expect(calls.filter((name) => name.includes('nodes'))).toEqual([]);
  expect((await node()).status.addresses).toEqual(addresses);
  expect(onTaken).toHaveBeenCalledOnce();
});
