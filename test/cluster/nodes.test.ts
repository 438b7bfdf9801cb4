import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ApiError } from '../../src/api/errors.ts';
import { ReplicaSet } from '../../src/kinds/groups/apps/replica-set.ts';
import { Lease } from '../../src/kinds/groups/coordination/lease.ts';
import { Event } from '../../src/kinds/groups/core/event/event.ts';
import { Namespace } from '../../src/kinds/groups/core/namespace.ts';
import { Node } from '../../src/kinds/groups/core/node/node.ts';
import { Pod } from '../../src/kinds/groups/core/pod/pod.ts';
import { admissionPlugins } from '../../src/server/operations/admission/all.ts';
import { type Cluster, startCluster } from '../support/cluster/cluster.ts';
import { makeReady } from '../support/pod-life.ts';

let cluster: Cluster;
let alive: Set<string>;

beforeEach(async () => {
  cluster = await startCluster({ admission: admissionPlugins() });
  alive = new Set();
  await cluster.client.of(Namespace).create({ metadata: { name: 'x' } });
  await cluster.clock.advance(1000);
});
afterEach(() => cluster.stop());

const nodes = () => cluster.client.of(Node);
const pods = () => cluster.client.of(Pod).in('x');
const leases = () => cluster.client.of(Lease).in('kube-node-lease');
const now = () => new Date(cluster.clock.now()).toISOString();
const timestamp = () => `${now().slice(0, 19)}Z`;
const time = () => Math.round((cluster.clock.now() - Date.parse('2030-01-01T00:00:00Z')) / 1000);

async function node(
  name: string,
  { seconds = 40, labels = {} }: { seconds?: number; labels?: object } = {},
): Promise<void> {
  await nodes().create({ metadata: { name, labels } } as any);
  await leases().create({ metadata: { name }, spec: { holderIdentity: name, leaseDurationSeconds: seconds } } as any);
  alive.add(name);
  await ready(name);
}

const ready = async (name: string, status = 'True') => {
  await beat(name);
  const known = { lastHeartbeatTime: timestamp(), lastTransitionTime: timestamp() };
  const conditions = [
    { type: 'Ready', status, ...known },
    ...['MemoryPressure', 'DiskPressure', 'PIDPressure'].map((type) => ({ type, status: 'False', ...known })),
  ];
  await nodes().patchStatus(name, { type: 'strategic', changes: { status: { conditions } } });
};
const beat = (name: string, spec: object = {}) =>
  leases().patch(name, { type: 'merge', changes: { spec: { renewTime: now().replace('Z', '000Z'), ...spec } } });

/** Advances the clock, and renews the leases of live nodes. */
async function pass(seconds: number): Promise<void> {
  for (let left = seconds; left > 0; left -= 5) {
    for (const name of alive) await beat(name);
    await cluster.clock.advance(Math.min(5, left) * 1000);
  }
}

const taints = async (name: string, effect?: string) =>
  ((await nodes().get(name)).spec.taints ?? [])
    .filter((taint) => !effect || taint.effect === effect)
    .map(({ key, effect: what }) => `${key.replace('node.kubernetes.io/', '')}:${what}`);
const conditions = async (name: string) =>
  (await nodes().get(name)).status.conditions?.map(({ type, status, reason }) =>
    `${type} ${status} ${reason ?? ''}`.trim(),
  );
const pod = async (name: string, spec: object = {}) => {
  await pods().create({
    metadata: { name },
    spec: { nodeName: 'a', containers: [{ name: 'c', image: 'i' }], ...spec },
  } as any);
  await makeReady(cluster.client, await pods().get(name), cluster.clock.now());
};
const told = async (namespace: string) =>
  (await cluster.client.of(Event).in(namespace).list()).items.map(({ reason, message }) => `${reason}: ${message}`);

describe('a node', () => {
  it('that is silent is unknown after 50 seconds, takes no pods, and its pods are not ready', async () => {
    await node('a');
    await node('b');
    await pod('p');
    alive.delete('a');
    await pass(45);
    expect(await conditions('a')).toContain('Ready True');
    await pass(15);
    expect(await conditions('a')).toEqual([
      'Ready Unknown NodeStatusUnknown',
      'MemoryPressure Unknown NodeStatusUnknown',
      'DiskPressure Unknown NodeStatusUnknown',
      'PIDPressure Unknown NodeStatusUnknown',
    ]);
    expect(await taints('a')).toEqual(['unreachable:NoSchedule', 'unreachable:NoExecute']);
    expect(await conditions('b')).toContain('Ready True');
    expect(await taints('b')).toEqual([]);
    expect((await pods().get('p')).status.conditions).toMatchObject([{ type: 'Ready', status: 'False' }]);
    expect(await told('default')).toEqual(
      expect.arrayContaining([
        'RegisteredNode: Node a event: Registered Node a in Controller',
        'NodeNotReady: Node a status is now: NodeNotReady',
      ]),
    );
    expect(await told('x')).toContain('NodeNotReady: Node is not ready');
  });

  it('that is silent has its pods marked once, also those that its agent reports as ready again', async () => {
    await node('a');
    await node('b');
    for (const name of ['p', 'q']) await pod(name);
    alive.delete('a');
    const isReady = async (name: string) =>
      (await pods().get(name)).status.conditions?.find(({ type }) => type === 'Ready')?.status;
    await pass(60);
    expect([await isReady('p'), await isReady('q')]).toEqual(['False', 'False']);
    await makeReady(cluster.client, await pods().get('p'), cluster.clock.now());
    await pass(60);
    expect([await isReady('p'), await isReady('q')]).toEqual(['True', 'False']);
    // The node is heard of, and lost again.
    await ready('a');
    await pass(5);
    await pass(60);
    expect([await isReady('p'), await isReady('q')]).toEqual(['False', 'False']);
  });

  it('that is silent has its pods marked although the first attempt fails', async () => {
    await node('a');
    await node('b');
    for (const name of ['p', 'q', 'r']) await pod(name);
    alive.delete('a');
    const failed: string[] = [];
    cluster.link.fault = ({ verb, plural, subresource, name = '' }) => {
      if (verb !== 'update' || plural !== 'pods' || subresource !== 'status' || failed.includes(name)) return undefined;
      failed.push(name);
      return new ApiError('ServiceUnavailable', 'the server does not answer');
    };
    await pass(70);
    expect(failed.sort()).toEqual(['p', 'q', 'r']);
    for (const name of ['p', 'q', 'r']) {
      expect((await pods().get(name)).status.conditions).toMatchObject([{ type: 'Ready', status: 'False' }]);
    }
  });

  it('that never reported is unknown after a minute', async () => {
    await nodes().create({ metadata: { name: 'a' } });
    await pass(55);
    expect(await conditions('a')).toBeUndefined();
    await pass(10);
    expect(await conditions('a')).toContain('Ready Unknown NodeStatusNeverUpdated');
  });

  it('with a long lease is waited for, and missed soon when it shortens the lease', async () => {
    await node('a', { seconds: 300 });
    await node('b');
    alive.delete('a');
    await pass(200);
    expect(await conditions('a')).toContain('Ready True');
    await beat('a', { leaseDurationSeconds: 40 });
    await pass(55);
    expect(await conditions('a')).toContain('Ready Unknown NodeStatusUnknown');
  });

  it('is tainted by its conditions, by users, and by nothing else', async () => {
    await node('a');
    const own = [{ key: 'mine', effect: 'NoSchedule' }];
    await nodes().patch('a', { type: 'merge', changes: { spec: { unschedulable: true, taints: own } } });
    const changes = { status: { conditions: [{ type: 'DiskPressure', status: 'True' }] } };
    await nodes().patchStatus('a', { type: 'strategic', changes });
    await pass(1);
    const expected = ['disk-pressure:NoSchedule', 'mine:NoSchedule', 'unschedulable:NoSchedule'];
    expect((await taints('a')).sort()).toEqual(expected);
    await nodes().patch('a', { type: 'merge', changes: { spec: { unschedulable: null } } });
    await ready('a');
    await pass(1);
    expect(await taints('a')).toEqual(['mine:NoSchedule']);
  });

  it('changes its taint when it reports that it is not ready, and loses it when it is ready again', async () => {
    await node('a');
    await node('b');
    alive.delete('a');
    await pass(60);
    expect(await taints('a', 'NoExecute')).toEqual(['unreachable:NoExecute']);
    await ready('a', 'False');
    await pass(1);
    expect(await taints('a')).toEqual(['not-ready:NoSchedule', 'not-ready:NoExecute']);
    await ready('a');
    await pass(1);
    expect(await taints('a')).toEqual([]);
  });
});

describe('a node that never existed', () => {
  it('does not cause a tight loop of a controller and the pod garbage collector', async () => {
    const labels = { app: 'lost' };
    const template = { metadata: { labels }, spec: { nodeName: 'nowhere', containers: [{ name: 'c', image: 'i' }] } };
    const spec = { replicas: 1, selector: { matchLabels: labels }, template };
    await cluster.client.of(ReplicaSet).create({ metadata: { name: 'lost', namespace: 'x' }, spec } as any);
    const seen = new Set<string | undefined>();
    for (let second = 0; second < 100; second++) {
      await cluster.clock.advance(1000);
      for (const { metadata } of (await pods().list()).items) seen.add(metadata.uid);
    }
    expect(seen.size).toBeGreaterThan(1);
    expect(seen.size).toBeLessThanOrEqual(5);
  });
});

describe('the pods of a node that is gone', () => {
  it('are evicted after five minutes, or after their tolerationSeconds', async () => {
    await node('a');
    await node('b');
    await pod('usual');
    const toleration = { key: 'node.kubernetes.io/unreachable', operator: 'Exists', effect: 'NoExecute' };
    await pod('short', { tolerations: [{ ...toleration, tolerationSeconds: 30 }] });
    await pod('loyal', { tolerations: [toleration] });
    alive.delete('a');
    const isDeleted = async (name: string) => (await pods().get(name)).metadata.deletionTimestamp !== undefined;
    await pass(60);
    expect(await taints('a', 'NoExecute')).toHaveLength(1);
    expect(await isDeleted('short')).toBe(false);
    await pass(30);
    expect(await isDeleted('short')).toBe(true);
    expect((await pods().get('short')).status.conditions).toContainEqual(
      expect.objectContaining({ type: 'DisruptionTarget', status: 'True', reason: 'DeletionByTaintManager' }),
    );
    await pass(255);
    expect(await isDeleted('usual')).toBe(false);
    await pass(20);
    expect(await isDeleted('usual')).toBe(true);
    expect(await isDeleted('loyal')).toBe(false);
    expect(await told('x')).toContain('TaintManagerEviction: Marking for deletion Pod x/usual');
  });

  it('stay when it is restored in time', async () => {
    await node('a');
    await node('b');
    await pod('p');
    alive.delete('a');
    await pass(200);
    alive.add('a');
    await ready('a');
    await pass(300);
    expect((await pods().get('p')).metadata.deletionTimestamp).toBeUndefined();
    expect(await told('x')).toContain('TaintManagerEviction: Cancelling deletion of Pod x/p');
  });

  it('are evicted at once without a toleration', async () => {
    await node('a');
    await pod('p');
    const changes = { spec: { taints: [{ key: 'off', effect: 'NoExecute' }] } };
    await nodes().patch('a', { type: 'merge', changes });
    await pass(1);
    expect((await pods().get('p')).metadata.deletionTimestamp).toBeDefined();
  });

  it('stay when all nodes are lost', async () => {
    await node('a');
    await node('b');
    alive.clear();
    await pass(120);
    expect(await taints('a')).toEqual(['unreachable:NoSchedule']);
    expect(await taints('b')).toEqual(['unreachable:NoSchedule']);
    alive.add('b');
    await ready('b');
    await pass(15);
    expect(await taints('a')).toContain('unreachable:NoExecute');
  });

  it('are evicted from one node of a zone at a time, and not at all when most of a small zone is lost', async () => {
    for (let i = 0; i < 9; i++) await node(`n${i}`, { labels: { 'topology.kubernetes.io/zone': 'one' } });
    for (let i = 0; i < 4; i++) await node(`m${i}`, { labels: { 'topology.kubernetes.io/zone': 'two' } });
    for (const name of ['n0', 'n1', 'n2', 'm0', 'm1', 'm2']) alive.delete(name);
    const counts: number[][] = [];
    const tainted = async (prefix: string) => {
      const { items } = await nodes().list();
      return items.filter(
        ({ metadata, spec }) =>
          metadata.name?.startsWith(prefix) && spec.taints?.some(({ effect }) => effect === 'NoExecute'),
      ).length;
    };
    await pass(40);
    for (let round = 0; round < 8; round++) {
      await pass(5);
      counts.push([await tainted('n'), await tainted('m')]);
    }
    expect(counts.map(([n]) => n)).toEqual([0, 0, 1, 1, 2, 2, 3, 3]);
    expect(counts.every(([, m]) => m === 0)).toBe(true);
    expect(time()).toBeLessThan(100);
  });
});

describe('the pods of a node that was deleted', () => {
  it('are marked as failed and deleted after 40 seconds', async () => {
    await node('a');
    await pod('p');
    const seen = (await cluster.client.of(Pod).in('x').list()).metadata.resourceVersion;
    alive.delete('a');
    await nodes().delete('a');
    await pass(35);
    expect((await pods().get('p')).status.phase).toBe('Running');
    await pass(10);
    expect((await pods().list()).items).toEqual([]);
    const watch = await pods().watch({ resourceVersion: seen });
    const phases: string[] = [];
    for await (const event of watch) {
      if (event.type !== 'BOOKMARK') phases.push((event.object as any).status.phase);
      if (event.type === 'DELETED') break;
    }
    expect(phases).toContain('Failed');
    expect(await told('default')).toContain('RemovingNode: Node a event: Removing Node a from Controller');
  });

  it('stay when it is created again before', async () => {
    await node('a');
    await pod('p');
    await nodes().delete('a');
    await pass(20);
    await nodes().create({ metadata: { name: 'a' } });
    await pass(30);
    expect((await pods().list()).items).toHaveLength(1);
  });
});
