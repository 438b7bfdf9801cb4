import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ClusterRole } from '../../src/kinds/groups/access/rbac/cluster-role.ts';
import { Deployment } from '../../src/kinds/groups/apps/deployment.ts';
import { ReplicaSet } from '../../src/kinds/groups/apps/replica-set.ts';
import { ConfigMap } from '../../src/kinds/groups/core/configuration/config-map.ts';
import { Event } from '../../src/kinds/groups/core/event/event.ts';
import { Namespace } from '../../src/kinds/groups/core/namespace.ts';
import { Pod } from '../../src/kinds/groups/core/pod/pod.ts';
import { defineKind } from '../../src/kinds/kind.ts';
import { s } from '../../src/schema/builders.ts';
import { type Cluster, startCluster } from '../support/cluster/cluster.ts';

let cluster: Cluster;

beforeEach(async () => {
  cluster = await startCluster();
  for (const name of ['x', 'y']) await cluster.client.of(Namespace).create({ metadata: { name } });
});
afterEach(() => cluster.stop());

const maps = (namespace = 'x') => cluster.client.of(ConfigMap).in(namespace);
const make = (name: string, owners: readonly any[] = [], more: object = {}) =>
  maps().create({ metadata: { name, ownerReferences: owners.map((owner) => reference(owner)), ...more } } as any);
const reference = ({ metadata, block = true, ...rest }: any) => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  ...rest,
  name: metadata.name,
  uid: metadata.uid,
  blockOwnerDeletion: block,
});
const names = async () =>
  (await maps().list()).items.map(({ metadata }) => metadata.name).filter((name) => name !== 'kube-root-ca.crt');
const get = (name: string) => maps().get(name);
const left = (...expected: string[]) =>
  cluster.eventually(async () => JSON.stringify(await names()) === JSON.stringify(expected));
const quiet = () => cluster.clock.advance(5000);
const deployment = () =>
  ({
    metadata: { name: 'web', namespace: 'x' },
    spec: {
      replicas: 2,
      selector: { matchLabels: { app: 'web' } },
      template: { metadata: { labels: { app: 'web' } }, spec: { containers: [{ name: 'c', image: 'i' }] } },
    },
  }) as any;

describe('an object that is deleted in the background', () => {
  it('is deleted at once, and its dependents after it', async () => {
    const a = await make('a');
    const b = await make('b', [a]);
    await make('c', [b]);
    await make('d');
    await maps().delete('a', { propagationPolicy: 'Background' });
    expect(await names()).not.toContain('a');
    await left('d');
    expect(cluster.complaints).toEqual([]);
  });

  it('keeps dependents with another owner, which lose the reference', async () => {
    const a = await make('a');
    const b = await make('b');
    await make('c', [a, b]);
    await maps().delete('a');
    await cluster.eventually(async () => (await get('c')).metadata.ownerReferences?.length === 1);
    expect((await get('c')).metadata.ownerReferences).toMatchObject([{ name: 'b' }]);
    await maps().delete('b');
    await left();
  });

  it('deletes dependents that own each other in a cycle', async () => {
    const a = await make('a');
    const b = await make('b', [a]);
    await maps().patch('a', { type: 'merge', changes: { metadata: { ownerReferences: [reference(b)] } } });
    await quiet();
    expect(await names()).toEqual(['a', 'b']);
    await maps().delete('a');
    await left();
  });
});

describe('an object that is deleted in the foreground', () => {
  it('stays until its blocking dependents are gone', async () => {
    const a = await make('a');
    const b = await make('b', [a], { finalizers: ['example.com/slow'] });
    await make('c', [b]);
    await make('d', [{ ...a, block: false }], { finalizers: ['example.com/slow'] });
    await maps().delete('a', { propagationPolicy: 'Foreground' });
    await cluster.eventually(async () => (await get('b')).metadata.deletionTimestamp !== undefined);
    await quiet();
    expect((await get('a')).metadata).toMatchObject({ finalizers: ['foregroundDeletion'] });
    expect((await get('d')).metadata.deletionTimestamp).toBeDefined();
    await maps().patch('b', { type: 'merge', changes: { metadata: { finalizers: null } } });
    await left('d');
  });

  it('is deleted with dependents that own each other in a cycle', async () => {
    const a = await make('a');
    const b = await make('b', [a]);
    await maps().patch('a', { type: 'merge', changes: { metadata: { ownerReferences: [reference(b)] } } });
    await maps().delete('a', { propagationPolicy: 'Foreground' });
    await left();
  });

  it('is finalized when a dependent gets another owner', async () => {
    const a = await make('a');
    const other = await make('other');
    await make('b', [a, other]);
    await maps().delete('a', { propagationPolicy: 'Foreground' });
    await left('b', 'other');
    expect((await get('b')).metadata.ownerReferences).toMatchObject([{ name: 'other' }]);
  });

  it('is finalized when its kind is served again', async () => {
    const a = await make('a');
    await make('b', [a]);
    cluster.link.cut();
    await maps().delete('a', { propagationPolicy: 'Foreground' });
    await cluster.clock.advance(2000);
    expect(await names()).toEqual(['a', 'b']);
    cluster.link.mend();
    await left();
  });
});

describe('an object that is deleted with Orphan', () => {
  it('orphans its dependents before it is deleted', async () => {
    const a = await make('a');
    await make('b', [a]);
    await make('c', [a]);
    await maps().delete('a', { propagationPolicy: 'Orphan' });
    await left('b', 'c');
    expect((await get('b')).metadata.ownerReferences).toBeUndefined();
    await quiet();
    expect(await names()).toEqual(['b', 'c']);
  });

  it.each([
    ['apps/v1', false],
    ['apps/v1beta1', true],
    ['extensions/v1beta1', true],
  ])('is what %s means where nothing is said: %s', async (apiVersion, isAlone) => {
    await cluster.client.of(Deployment).create(deployment());
    const pods = () => cluster.client.of(Pod).in('x').list();
    await cluster.eventually(async () => (await pods()).items.length === 2);
    await cluster.client.of(Deployment, apiVersion).in('x').delete('web');
    const sets = () => cluster.client.of(ReplicaSet).in('x').list();
    const isGone = () =>
      cluster.client
        .of(Deployment)
        .in('x')
        .list()
        .then(({ items }) => items.length === 0);
    await cluster.eventually(isGone);
    if (isAlone) {
      await quiet();
      expect((await sets()).items).toMatchObject([{ metadata: { name: expect.stringMatching(/^web-/) } }]);
      expect((await sets()).items[0]?.metadata.ownerReferences).toBeUndefined();
      expect((await pods()).items).toHaveLength(2);
    } else {
      await cluster.eventually(async () => (await sets()).items.length === 0 && (await pods()).items.length === 0);
    }
  });
});

describe('an owner', () => {
  it('that never existed has its dependent deleted', async () => {
    await make('b', [{ metadata: { name: 'a', uid: 'no-such-uid' } }]);
    await left();
  });

  it('with the same name but another UID is another object', async () => {
    await make('a');
    await make('b', [{ metadata: { name: 'a', uid: 'no-such-uid' } }]);
    await left('a');
  });

  it('in another namespace is not an owner, with an event', async () => {
    const elsewhere = await maps('y').create({ metadata: { name: 'a' } });
    await quiet();
    await make('b', [elsewhere]);
    await left();
    await cluster.eventually(async () => (await cluster.client.of(Event).in('x').list()).items.length > 0);
    const [told] = (await cluster.client.of(Event).in('x').list()).items;
    const { uid } = elsewhere.metadata;
    expect(told).toMatchObject({
      type: 'Warning',
      reason: 'OwnerRefInvalidNamespace',
      message: `ownerRef [v1/ConfigMap, namespace: x, name: a, uid: ${uid}] does not exist in namespace "x"`,
      involvedObject: { kind: 'ConfigMap', name: 'b' },
    });
  });

  it('with a namespace owns no cluster-scoped objects', async () => {
    const a = await make('a');
    const roles = cluster.client.of(ClusterRole);
    await roles.create({ metadata: { name: 'r', ownerReferences: [reference(a)] }, rules: [] } as any);
    await maps().delete('a');
    await quiet();
    expect((await roles.get('r')).metadata.ownerReferences).toHaveLength(1);
  });

  it('of a kind that is not served keeps its dependents until it is served', async () => {
    const owner = { apiVersion: 'example.com/v1', kind: 'Boat', metadata: { name: 'b', uid: 'no-such-uid' } };
    await make('a', [owner]);
    await quiet();
    expect(await names()).toEqual(['a']);
    cluster.server.registry.add(Boat);
    await left();
    expect(cluster.complaints).toEqual([]);
  });
});

const Boat = defineKind({
  kind: 'Boat',
  scope: 'Namespaced',
  description: 'Came later.',
  versions: { 'example.com/v1': {} },
  fields: { spec: s.any() },
});

describe('a kind that is added later', () => {
  it('owns and is owned like the others', async () => {
    cluster.server.registry.add(Boat);
    const boats = cluster.client.of(Boat).in('x');
    const a = await make('a');
    const boat = await boats.create({ metadata: { name: 'boat', ownerReferences: [reference(a)] } } as any);
    await make('b', [{ ...boat, apiVersion: 'example.com/v1', kind: 'Boat' }]);
    await quiet();
    expect(await names()).toEqual(['a', 'b']);
    await maps().delete('a', { propagationPolicy: 'Foreground' });
    await left();
    expect((await boats.list()).items).toEqual([]);
    cluster.server.registry.remove(Boat);
    await quiet();
    expect(cluster.complaints).toEqual([]);
  });
});
