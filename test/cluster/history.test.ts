/** The history of a cluster with all its controllers: what people did can be undone, and components do the rest. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { ObjectChange } from '../../src/api/past.ts';
import type { UndoAnswer } from '../../src/api/undo/undo-set.ts';
import type { User } from '../../src/api/user.ts';
import { Role } from '../../src/kinds/groups/access/rbac/role.ts';
import { RoleBinding } from '../../src/kinds/groups/access/rbac/role-binding.ts';
import { Deployment } from '../../src/kinds/groups/apps/deployment.ts';
import { ReplicaSet } from '../../src/kinds/groups/apps/replica-set.ts';
import { ConfigMap } from '../../src/kinds/groups/core/configuration/config-map.ts';
import { Secret } from '../../src/kinds/groups/core/configuration/secret.ts';
import { Namespace } from '../../src/kinds/groups/core/namespace.ts';
import { Pod } from '../../src/kinds/groups/core/pod/pod.ts';
import { Service } from '../../src/kinds/groups/core/service/service.ts';
import { CustomResourceDefinition } from '../../src/kinds/groups/extension/apiextensions/custom-resource-definition.ts';
import type { Cluster } from '../support/cluster/cluster.ts';
import { startWholeCluster } from '../support/cluster/whole-cluster.ts';

let cluster: Cluster;

beforeEach(async () => {
  cluster = await startWholeCluster(['n1']);
  await cluster.client.of(Namespace).create({ metadata: { name: 'shop' } });
  await cluster.clock.advance(5_000);
});
afterEach(() => cluster.stop());

const admin: User = { name: 'admin', groups: ['system:masters'] };
const joe: User = { name: 'joe', groups: ['system:authenticated'] };

const web = {
  metadata: { name: 'web', namespace: 'shop' },
  spec: {
    replicas: 2,
    selector: { matchLabels: { app: 'web' } },
    template: { metadata: { labels: { app: 'web' } }, spec: { containers: [{ name: 'c', image: 'i' }] } },
  },
} as any;

const readyPods = async () => {
  const { items } = await cluster.client.of(Pod).in('shop').list();
  return items.filter(({ status, metadata }) => status.phase === 'Running' && !metadata.deletionTimestamp).length;
};
const now = () => new Date(cluster.clock.now()).toISOString();

function asked(user: User, method: string, path: string, more: { body?: object; query?: Record<string, string> } = {}) {
  const { body = {}, query = {} } = more;
  const bytes = async () => Buffer.from(JSON.stringify(body));
  return cluster.server.history.answer({ user, method, path, query: new URLSearchParams(query), body: bytes });
}

const undo = (body: object, user = admin) => asked(user, 'POST', '/history/undo', { body }) as Promise<UndoAnswer>;
const actions = ({ items }: UndoAnswer) => items.map(({ action, kind, name }) => `${action} ${kind} ${name}`);

async function changes(user: User, query: Record<string, string> = {}): Promise<readonly ObjectChange[]> {
  const { items } = (await asked(user, 'GET', '/history/changes', { query })) as { items: readonly ObjectChange[] };
  return items;
}

describe('objects that were deleted by mistake', () => {
  it('come back with everything that controllers make of them', async () => {
    const { client, clock } = cluster;
    await client.of(Deployment).create(web);
    const service = { metadata: { name: 'web', namespace: 'shop' }, spec: { ports: [{ port: 80 }] } } as any;
    const { spec } = await client.of(Service).create(service);
    await client.of(ConfigMap).create({ metadata: { name: 'settings', namespace: 'shop' }, data: { color: 'red' } });
    await cluster.eventually(async () => (await readyPods()) === 2);
    await clock.advance(5_000);
    const since = now();
    await clock.advance(1_000);
    await client.of(Deployment).in('shop').delete('web');
    await client.of(Service).in('shop').delete('web');
    await client.of(ConfigMap).in('shop').delete('settings');
    await cluster.eventually(async () => (await client.of(Pod).in('shop').list()).items.length === 0);
    const plan = await undo({ since, namespace: 'shop', dryRun: true });
    const creates = actions(plan).filter((each) => each.startsWith('create'));
    expect(creates.sort()).toEqual(['create ConfigMap settings', 'create Deployment web', 'create Service web']);
    expect(plan.items.filter(({ action }) => action === 'conflict')).toEqual([]);
    await undo({ since, namespace: 'shop' });
    expect((await client.of(Service).in('shop').get('web')).spec.clusterIP).toBe(spec.clusterIP);
    await cluster.eventually(async () => (await readyPods()) === 2);
    expect((await client.of(ReplicaSet).in('shop').list()).items).toHaveLength(1);
    expect(cluster.complaints).toEqual([]);
  });

  it('come back with their namespace, also when only the changes of one user are undone', async () => {
    const { client, clock } = cluster;
    await client.of(Deployment).create(web);
    await client.of(Secret).create({ metadata: { name: 'key', namespace: 'shop' }, data: { a: 'YQ==' } } as any);
    await cluster.eventually(async () => (await readyPods()) === 2);
    const since = now();
    await clock.advance(1_000);
    await client.of(Namespace).delete('shop');
    await cluster.eventually(async () => {
      const { items } = await client.of(Namespace).list();
      return !items.some(({ metadata }) => metadata.name === 'shop');
    });
    await undo({ since, user: 'admin' });
    expect((await client.of(Namespace).get('shop')).status.phase).toBe('Active');
    expect((await client.of(Secret).in('shop').get('key')).data).toEqual({ a: 'YQ==' });
    await cluster.eventually(async () => (await readyPods()) === 2);
    expect(cluster.complaints).toEqual([]);
  });

  it('stay deleted while their namespace is', async () => {
    const { client, clock } = cluster;
    const held = { metadata: { name: 'held', namespace: 'shop', finalizers: ['example.com/held'] } };
    await client.of(ConfigMap).create(held as any);
    await clock.advance(1_000);
    const since = now();
    await clock.advance(1_000);
    await client.of(Namespace).delete('shop');
    await clock.advance(10_000);
    const { items } = await undo({ since, namespace: 'shop' });
    expect(items).toContainEqual(
      expect.objectContaining({ action: 'conflict', name: 'shop', reason: expect.stringContaining('under way') }),
    );
  });
});

it('a change back returns what a controller made of the change', async () => {
  const { client, clock } = cluster;
  await client.of(Deployment).create(web);
  await cluster.eventually(async () => (await readyPods()) === 2);
  await clock.advance(2_000);
  const since = now();
  await clock.advance(1_000);
  const image = (name: string) => ({ spec: { template: { spec: { containers: [{ name: 'c', image: name }] } } } });
  await client
    .of(Deployment)
    .in('shop')
    .patch('web', { type: 'strategic', changes: image('broken') });
  await clock.advance(5_000);
  expect(actions(await undo({ since }))).toEqual(['update Deployment web']);
  const { spec } = await client.of(Deployment).in('shop').get('web');
  expect(spec.template.spec.containers[0]!.image).toBe('i');
});

it('custom objects come back after their definition', async () => {
  const { client, clock, directFor } = cluster;
  const definition = {
    metadata: { name: 'gizmos.example.com' },
    spec: {
      group: 'example.com',
      scope: 'Namespaced',
      names: { plural: 'gizmos', kind: 'Gizmo' },
      versions: [
        {
          ...{ name: 'v1', served: true, storage: true },
          schema: { openAPIV3Schema: { type: 'object', properties: { size: { type: 'integer' } } } },
        },
      ],
    },
  };
  const gizmos = { apiVersion: 'example.com/v1', plural: 'gizmos', namespace: 'shop' };
  const gizmo = { apiVersion: 'example.com/v1', kind: 'Gizmo', metadata: { name: 'one' }, size: 3 };
  await client.of(CustomResourceDefinition).create(definition as any);
  await cluster.eventually(async () => cluster.server.registry.resource('example.com/v1', 'gizmos') !== undefined);
  await directFor(admin)({ ...gizmos, verb: 'create', body: gizmo });
  await clock.advance(1_000);
  const since = now();
  await clock.advance(1_000);
  await client.of(CustomResourceDefinition).delete('gizmos.example.com');
  await cluster.eventually(async () => cluster.server.registry.resource('example.com/v1', 'gizmos') === undefined);
  await clock.advance(5_000);
  const first = await undo({ since });
  expect(actions(first)).toContain('create CustomResourceDefinition gizmos.example.com');
  expect(first.items).toContainEqual(
    expect.objectContaining({ action: 'conflict', name: 'one', reason: expect.stringContaining('no kind gizmos') }),
  );
  await cluster.eventually(async () => cluster.server.registry.resource('example.com/v1', 'gizmos') !== undefined);
  expect(actions(await undo({ since }))).toEqual(['create Gizmo one']);
  const reply = await directFor(admin)({ ...gizmos, verb: 'get', name: 'one' });
  expect(reply).toMatchObject({ item: { object: { size: 3 } } });
});

describe('a user who may only read the ConfigMaps of a namespace', () => {
  beforeEach(async () => {
    const { client } = cluster;
    const metadata = { name: 'maps', namespace: 'shop' };
    await client
      .of(Role)
      .create({ metadata, rules: [{ apiGroups: [''], resources: ['configmaps'], verbs: ['get', 'list'] }] } as any);
    const subjects = [{ kind: 'User', name: 'joe', apiGroup: 'rbac.authorization.k8s.io' }];
    const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'maps' };
    await client.of(RoleBinding).create({ metadata, subjects, roleRef } as any);
    await client.of(ConfigMap).create({ metadata: { name: 'settings', namespace: 'shop' } } as any);
    await client.of(Secret).create({ metadata: { name: 'key', namespace: 'shop' } } as any);
  });

  it('sees their history, and nothing else', async () => {
    const mine = await changes(joe);
    expect(new Set(mine.map(({ kind, namespace }) => `${namespace}/${kind}`))).toEqual(new Set(['shop/ConfigMap']));
    const all = await changes(admin, { namespace: 'shop' });
    expect(new Set(all.map(({ kind }) => kind))).toContain('Secret');
  });

  it('may read past objects as present ones', async () => {
    const read = (plural: string, name: string) =>
      cluster.directFor(joe)({ verb: 'get', apiVersion: 'v1', plural, namespace: 'shop', name, past: {} });
    await expect(read('configmaps', 'settings')).resolves.toMatchObject({ type: 'object' });
    await expect(read('secrets', 'key')).rejects.toMatchObject({ reason: 'Forbidden' });
    cluster.rejections.length = 0;
  });

  it('cannot undo', async () => {
    await cluster.clock.advance(1_000);
    const since = now();
    await cluster.clock.advance(1_000);
    await cluster.client.of(ConfigMap).in('shop').delete('settings');
    await expect(undo({ since }, joe)).rejects.toMatchObject({ reason: 'Forbidden' });
    expect((await undo({ since, dryRun: true })).items.map(({ name }) => name)).toContain('settings');
  });
});
