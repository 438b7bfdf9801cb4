/** Tests the agent's writes for CSI drivers, with the rights of a node. */
import { afterEach, expect, test } from 'vitest';
import { Node } from '../../src/kinds/groups/core/node/node.ts';
import { PersistentVolumeClaim } from '../../src/kinds/groups/core/persistent-volume/persistent-volume-claim.ts';
import { CSINode } from '../../src/kinds/groups/storage/csi-node.ts';
import { PullRecords } from '../../src/node/agent/images/pull-records.ts';
import { volumesApi } from '../../src/node/agent/volumes-api.ts';
import { type AgentCluster, agentCluster } from '../support/agent.ts';

let cluster: AgentCluster;
afterEach(() => cluster.stop());

const DISK = { name: 'disk.example.com', nodeId: 'm-1', maxVolumes: 7, topology: { 'disk.example.com/rack': 'r1' } };
const TAPE = { name: 'tape.example.com', nodeId: 'm-2', maxVolumes: 0, topology: {} };

async function start() {
  cluster = await agentCluster();
  const { nodeClient, runtime, clock } = cluster;
  return volumesApi(nodeClient, {
    emit: () => undefined,
    nodeName: 'n1',
    images: () => runtime.images,
    pullRecords: new PullRecords(undefined),
    clock,
  });
}

const drivers = async () => (await cluster.client.of(CSINode).get('n1')).spec.drivers;

test('a node has a CSINode, which lists its drivers', async () => {
  const api = await start();
  await cluster.clock.advance(0);
  const { uid } = (await cluster.client.of(Node).get('n1')).metadata;
  const owner = { apiVersion: 'v1', kind: 'Node', name: 'n1', uid };
  expect(await cluster.client.of(CSINode).get('n1')).toMatchObject({
    metadata: { ownerReferences: [owner] },
    spec: { drivers: [] },
  });
  await api.csiDriverAdded?.(DISK);
  await api.csiDriverAdded?.(TAPE);
  await api.csiDriverAdded?.({ ...DISK, maxVolumes: 9 });
  expect(await drivers()).toEqual([
    { name: 'tape.example.com', nodeID: 'm-2', topologyKeys: [] },
    { name: 'disk.example.com', nodeID: 'm-1', topologyKeys: ['disk.example.com/rack'], allocatable: { count: 9 } },
  ]);
  expect((await cluster.client.of(Node).get('n1')).metadata).toMatchObject({
    labels: { 'disk.example.com/rack': 'r1' },
    annotations: { 'csi.volume.kubernetes.io/nodeid': '{"disk.example.com":"m-1","tape.example.com":"m-2"}' },
  });
  await api.csiDriverRemoved?.('disk.example.com');
  expect((await drivers()).map(({ name }) => name)).toEqual(['tape.example.com']);
  await api.csiDriverRemoved?.('tape.example.com');
  const { annotations } = (await cluster.client.of(Node).get('n1')).metadata;
  expect(annotations).not.toHaveProperty(['csi.volume.kubernetes.io/nodeid']);
});

test('a driver cannot move the node to another rack', async () => {
  const api = await start();
  await api.csiDriverAdded?.(DISK);
  await expect(api.csiDriverAdded?.({ ...TAPE, topology: { 'disk.example.com/rack': 'r2' } })).rejects.toThrow(
    'detected topology value collision',
  );
});

test('volumes in use are in the status of the node, and stay there when it reports', async () => {
  const api = await start();
  const status = async () => (await cluster.client.of(Node).get('n1')).status;
  await api.reportVolumesInUse?.(['kubernetes.io/csi/disk.example.com^d']);
  await cluster.clock.advance(400_000);
  expect((await status()).volumesInUse).toEqual(['kubernetes.io/csi/disk.example.com^d']);
  await api.reportVolumesInUse?.([]);
  expect(await status()).not.toHaveProperty('volumesInUse');
});

test('a claim whose volume has grown has its new size, and waits for nothing', async () => {
  const api = await start();
  const claims = cluster.client.of(PersistentVolumeClaim).in('default');
  const resources = { requests: { storage: '2Gi' } };
  const made = await claims.create({
    metadata: { name: 'mine', namespace: 'default' },
    spec: { accessModes: ['ReadWriteOnce'], resources, volumeName: 'v' },
  } as never);
  const condition = { type: 'FileSystemResizePending', status: 'True' };
  const before = { phase: 'Bound', capacity: { storage: '1Gi' }, conditions: [condition] };
  const claim = await claims.updateStatus({ ...made, status: before } as never);
  await cluster.run('web', { spec: { volumes: [{ name: 'v', persistentVolumeClaim: { claimName: 'mine' } }] } });
  await api.claimExpanded?.(claim, '2Gi');
  const { status } = await claims.get('mine');
  expect(status.capacity).toEqual({ storage: '2Gi' });
  expect(status.conditions ?? []).toEqual([]);
});
