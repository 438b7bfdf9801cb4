/** A node whose runtime has no network for its pods: they share that of the node. */
import { afterEach, beforeEach, expect, test } from 'vitest';
import { Node } from '../../src/kinds/groups/core/node/node.ts';
import { Pod } from '../../src/kinds/groups/core/pod/pod.ts';
import type { PortInUse } from '../../src/node/admission/ports.ts';
import { type AgentCluster, agentCluster } from '../support/agent.ts';

let cluster: AgentCluster;
let inUse: PortInUse[];
let isolated: (readonly string[])[];

beforeEach(async () => {
  inUse = [];
  isolated = [];
  cluster = await agentCluster({
    portsInUse: async () => inUse,
    network: {
      untilIsolated: async (_, addresses) => void isolated.push(addresses),
      untilDrained: () => Promise.reject(new Error('other pods have the address, too')),
    },
  });
  cluster.runtime.podNetwork = 'node';
  await cluster.restart();
});
afterEach(() => cluster.stop());

const isReady = (pod: any) =>
  pod?.status.conditions?.some((each: any) => each.type === 'Ready' && each.status === 'True');
const withPort = (containerPort: number) => ({
  spec: {
    containers: [{ name: 'c', image: 'nginx:1', ports: [{ containerPort }], resources: { requests: { cpu: '5m' } } }],
  },
});

test('a pod has the address of the node, and the node says why', async () => {
  const { run, until, client } = cluster;
  await run('web');
  const pod = await until('web', isReady);
  const ips = [{ ip: '192.0.2.1' }];
  expect(pod.status).toMatchObject({ podIP: '192.0.2.1', podIPs: ips, hostIP: '192.0.2.1', hostIPs: ips });
  const { annotations } = (await client.of(Node).get('n1')).metadata;
  expect(annotations).toMatchObject({ 'node.kubernetes.io/pod-network': 'node' });
});

test('policies are asked for no address of it, and its end does not wait for connections to others', async () => {
  const { run, until } = cluster;
  await run('web');
  await until('web', isReady);
  expect(isolated).toEqual([[]]);
  await cluster.delete('web');
  await until('web', (gone) => gone === undefined);
});

test('a pod whose port another pod has is rejected until that one is gone', async () => {
  const { run, until, events } = cluster;
  await run('web', withPort(8080));
  await until('web', isReady);
  await run('second', withPort(8080));
  const { status } = await until('second', (pod) => pod.status.phase === 'Failed');
  const message = "Predicate NodePorts failed: node(s) didn't have free ports for the requested pod ports";
  expect(status).toMatchObject({ reason: 'NodePorts' });
  expect(await events('second')).toEqual([`NodePorts: ${message}: pod default/web has TCP/8080`]);
  await cluster.delete('web');
  await until('web', (gone) => gone === undefined);
  await run('third', withPort(8080));
  await until('third', isReady);
});

test('a pod whose port a program of the machine has is rejected', async () => {
  const { run, until, events } = cluster;
  inUse = [{ protocol: 'TCP', address: '127.0.0.1', port: 6443, holder: 'the API server' }];
  await run('web', withPort(6443));
  await until('web', (pod) => pod.status.phase === 'Failed');
  expect(await events('web')).toEqual(['PortInUse: Port TCP/6443 of the node is in use by the API server']);
});

test('the port that a pod listens on is no reason against it later', async () => {
  const { run, until, client } = cluster;
  await run('web', withPort(8080));
  await until('web', isReady);
  inUse = [{ protocol: 'TCP', address: '0.0.0.0', port: 8080, holder: 'another program' }];
  await cluster.restart();
  const changes = { spec: { containers: [{ name: 'c', resources: { requests: { cpu: '10m' } } }] } };
  await client.of(Pod).in('default').subresource('web', 'resize').patch({ type: 'strategic', changes });
  const resized = await until('web', (pod) => pod.status.containerStatuses[0].resources?.requests?.cpu === '10m');
  expect(isReady(resized)).toBe(true);
});
