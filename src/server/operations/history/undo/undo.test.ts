import { describe, expect, it } from 'vitest';
import { type TestServer, testServer } from '../../../../../test/support/server.ts';
import type { TreeRequest } from '../../../../api/served-action.ts';
import type { UndoAnswer, UndoRequest } from '../../../../api/undo/undo-set.ts';
import { Deployment } from '../../../../kinds/groups/apps/deployment.ts';
import { ConfigMap } from '../../../../kinds/groups/core/configuration/config-map.ts';
import { Secret } from '../../../../kinds/groups/core/configuration/secret.ts';
import { Namespace } from '../../../../kinds/groups/core/namespace.ts';
import { ResourceQuota } from '../../../../kinds/groups/core/quota/resource-quota.ts';
import { Service } from '../../../../kinds/groups/core/service/service.ts';
import { IPAddress } from '../../../../kinds/groups/networking/ip-address.ts';
import { ServiceCIDR } from '../../../../kinds/groups/networking/service-cidr.ts';
import type { Authorizer } from '../../../access/authz/authorizer.ts';
import { namespaceLifecycle } from '../../admission/plugins/namespace-lifecycle/namespace-lifecycle.ts';
import { resourceQuota } from '../../admission/plugins/resource-quota/resource-quota.ts';

const KINDS = [Namespace, ConfigMap, Secret, Deployment, Service, IPAddress, ServiceCIDR, ResourceQuota];
const USER = { name: 'tester', groups: ['system:masters'] };

async function world(): Promise<TestServer & { undo: Undo; now(): Promise<string> }> {
  const api = await testServer(KINDS, { admission: [namespaceLifecycle, resourceQuota] });
  const undo: Undo = (since, more = {}, user = USER) =>
    api.server.history.answer(request({ since, ...more }, user)) as Promise<UndoAnswer>;
  return { ...api, undo, now: async () => String(await api.store.revision()) };
}

type Undo = (since: string, more?: Partial<UndoRequest>, user?: TreeRequest['user']) => Promise<UndoAnswer>;

function request(body: object, user: TreeRequest['user']): TreeRequest {
  const query = new URLSearchParams();
  return { user, method: 'POST', path: '/history/undo', query, body: async () => Buffer.from(JSON.stringify(body)) };
}

const actions = ({ items }: UndoAnswer) => items.map(({ action, kind, name }) => `${action} ${kind} ${name}`);
const configMap = (name: string, more: object = {}) => ({ metadata: { name, ...more }, data: { color: 'red' } });

describe('an undo', () => {
  it('brings back what was deleted, changes back what was changed, and deletes what was created', async () => {
    const api = await world();
    const labels = { app: 'web' };
    const { metadata } = await api.create('configmaps', configMap('gone', { labels }));
    await api.create('configmaps', configMap('changed'));
    const since = await api.now();
    await api.delete('configmaps', 'gone');
    await api.patch('configmaps', 'changed', { data: { color: 'blue', more: 'x' } });
    await api.create('configmaps', configMap('new'));
    const answer = await api.undo(since);
    expect(actions(answer)).toEqual(['delete ConfigMap new', 'update ConfigMap changed', 'create ConfigMap gone']);
    const gone = await api.get('configmaps', 'gone');
    expect(gone).toMatchObject({ data: { color: 'red' }, metadata: { labels } });
    expect(gone.metadata.uid).not.toBe(metadata.uid);
    expect((await api.get('configmaps', 'changed')).data).toEqual({ color: 'red' });
    await expect(api.get('configmaps', 'new')).rejects.toMatchObject({ reason: 'NotFound' });
    expect(actions(await api.undo(since))).toEqual([]);
  });

  it('is one commit, whose changes the history shows as those of the user', async () => {
    const api = await world();
    const since = await api.now();
    for (const name of ['a', 'b', 'c']) await api.create('configmaps', configMap(name));
    const before = Number(await api.now());
    await api.undo(since);
    expect(Number(await api.now())).toBe(before + 1);
    const path = '/history/changes';
    const query = new URLSearchParams({ since: String(before) });
    const list: any = await api.server.history.answer({ ...request({}, USER), method: 'GET', path, query });
    expect(list.items.map(({ type, fieldManager }: any) => `${type} ${fieldManager}`)).toEqual(
      Array(3).fill('deleted qd-undo'),
    );
  });

  it('only checks and tells its plan in a dry run', async () => {
    const api = await world();
    await api.create('configmaps', configMap('a'));
    const since = await api.now();
    await api.patch('configmaps', 'a', { data: { color: 'blue' } });
    const now = await api.now();
    const answer = await api.undo(since, { dryRun: true });
    expect(answer).toMatchObject({ dryRun: true, metadata: { resourceVersion: now } });
    expect(answer.items).toMatchObject([
      { action: 'update', users: ['tester'], now: { data: { color: 'blue' } }, before: { data: { color: 'red' } } },
    ]);
    expect(await api.now()).toBe(now);
  });

  it('leaves what somebody else has changed since, unless it is forced', async () => {
    const api = await world();
    await api.create('configmaps', configMap('a'));
    const since = await api.now();
    const joe = { user: { name: 'joe', groups: [] } };
    await api.patch('configmaps', 'a', { data: { color: 'blue' } }, joe);
    await api.patch('configmaps', 'a', { data: { color: 'green' } });
    const [item] = (await api.undo(since, { user: 'joe' })).items;
    expect(item).toMatchObject({ action: 'conflict', reason: expect.stringContaining('tester updated it later') });
    expect((await api.get('configmaps', 'a')).data.color).toBe('green');
    await api.undo(since, { user: 'joe', force: true });
    expect((await api.get('configmaps', 'a')).data.color).toBe('red');
  });

  it('restores a namespace with what is in it, owners first, with references to the new owners', async () => {
    const api = await world();
    const cluster = { namespace: undefined } as const;
    const inside = { namespace: 'shop' };
    await api.create('namespaces', { metadata: { name: 'shop' } }, cluster);
    const owner = await api.create('configmaps', configMap('z-owner'), inside);
    const reference = { apiVersion: 'v1', kind: 'ConfigMap', name: 'z-owner', uid: owner.metadata.uid };
    await api.create('configmaps', configMap('a-owned', { ownerReferences: [reference] }), inside);
    const since = await api.now();
    for (const name of ['a-owned', 'z-owner']) await api.delete('configmaps', name, inside);
    await api.update(
      'namespaces',
      { metadata: { name: 'shop' }, spec: { finalizers: [] } },
      { ...cluster, subresource: 'finalize' },
    );
    await api.delete('namespaces', 'shop', cluster);
    expect(actions(await api.undo(since))).toEqual([
      'create Namespace shop',
      'create ConfigMap z-owner',
      'create ConfigMap a-owned',
    ]);
    const { metadata } = await api.get('configmaps', 'z-owner', inside);
    const owned = await api.get('configmaps', 'a-owned', inside);
    expect(owned.metadata.ownerReferences).toEqual([{ ...reference, uid: metadata.uid }]);
  });

  it('leaves objects to their controllers', async () => {
    const api = await world();
    const controller = { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web', uid: 'u', controller: true };
    await api.create('configmaps', configMap('made', { ownerReferences: [controller] }));
    const since = await api.now();
    await api.delete('configmaps', 'made');
    const { items } = await api.undo(since);
    expect(items).toMatchObject([{ action: 'leave', reason: 'Deployment web makes its objects itself' }]);
  });

  it('gives a Service its address back, or another one when it is taken', async () => {
    const api = await world();
    const service = (name: string, clusterIP?: string) => ({
      metadata: { name },
      spec: { clusterIP, ports: [{ port: 80 }], type: 'NodePort' },
    });
    const first = await api.create('services', service('a'));
    await api.create('services', service('b'));
    const since = await api.now();
    await api.delete('services', 'a');
    await api.delete('services', 'b');
    const third = await api.create('services', service('c', first.spec.clusterIP));
    await api.undo(since, { until: String(Number(third.metadata.resourceVersion) - 1) });
    const [a, b] = [await api.get('services', 'a'), await api.get('services', 'b')];
    expect(a.spec.clusterIP).not.toBe(first.spec.clusterIP);
    expect(new Set([a, b, third].map(({ spec }) => spec.clusterIP)).size).toBe(3);
  });

  it('counts each object in a quota', async () => {
    const api = await world();
    for (const name of ['a', 'b']) await api.create('configmaps', configMap(name));
    const since = await api.now();
    for (const name of ['a', 'b']) await api.delete('configmaps', name);
    await api.create('resourcequotas', { metadata: { name: 'q' }, spec: { hard: { 'count/configmaps': '1' } } });
    const status = { hard: { 'count/configmaps': '1' }, used: { 'count/configmaps': '0' } };
    await api.patch('resourcequotas', 'q', { status }, { subresource: 'status' });
    const until = String(Number(since) + 2);
    const before = await api.now();
    await expect(api.undo(since, { until })).rejects.toMatchObject({
      reason: 'Forbidden',
      message: expect.stringContaining('create configmaps "b" in namespace default'),
    });
    expect(await api.now()).toBe(before);
    await api.patch('resourcequotas', 'q', { spec: { hard: { 'count/configmaps': '2' } } });
    await api.patch(
      'resourcequotas',
      'q',
      { status: { hard: { 'count/configmaps': '2' } } },
      { subresource: 'status' },
    );
    await api.undo(since, { until });
    expect((await api.get('resourcequotas', 'q')).status.used).toEqual({ 'count/configmaps': '2' });
  });

  it('does not touch what the server derives, such as the managers of fields', async () => {
    const api = await world();
    const kubectl = { userAgent: 'kubectl/v1' };
    await api.create('configmaps', configMap('a'), kubectl);
    const { metadata } = await api.get('configmaps', 'a');
    const since = await api.now();
    await api.delete('configmaps', 'a');
    await api.undo(since);
    expect((await api.get('configmaps', 'a')).metadata.managedFields).toEqual(metadata.managedFields);
  });
});

describe('rights', () => {
  it('are those of the user, for each object', async () => {
    const authorizer: Pick<Authorizer, 'authorize'> = {
      authorize: (asked) => {
        const isAllowed = asked.user.name !== 'joe' || ('resource' in asked && asked.resource === 'configmaps');
        return {
          verdict: isAllowed && (asked.user.name !== 'joe' || asked.verb !== 'delete') ? 'allow' : 'deny',
          reason: '',
        };
      },
    };
    const api = await world();
    Object.assign(api.server.authorizer, authorizer);
    const joe = { name: 'joe', groups: [] };
    const since = await api.now();
    await api.create('secrets', { metadata: { name: 's' } });
    await api.create('configmaps', configMap('a'));
    const before = await api.now();
    await expect(api.undo(since, {}, joe)).rejects.toMatchObject({ reason: 'Forbidden' });
    expect(await api.now()).toBe(before);
    const plan = await api.undo(String(Number(since) + 2), {}, joe);
    expect(plan.items).toEqual([]);
    expect((await api.undo(since, { until: String(Number(since) + 1) }, joe)).hidden).toBeGreaterThan(0);
  });
});

it.each([
  [{}, 'expected since'],
  [{ since: 5 }, 'expected since to be a string, found number'],
  [{ since: '1', toString: 'x' }, 'there is no field "toString"'],
  [[], 'expected an object'],
])('rejects the request %j', async (body, message) => {
  const api = await world();
  const answer = api.server.history.answer(request(body, USER));
  await expect(answer).rejects.toMatchObject({ reason: 'BadRequest', message: expect.stringContaining(message) });
});
