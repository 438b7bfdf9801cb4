import { describe, expect, it } from 'vitest';
import { type Asked, type TestServer, testServer } from '../../../../test/support/server.ts';
import type { ListReply, ObjectReply } from '../../../api/reply.ts';
import { ControlledClock } from '../../../base/time/clock.ts';
import { Deployment } from '../../../kinds/groups/apps/deployment.ts';
import { ConfigMap } from '../../../kinds/groups/core/configuration/config-map.ts';
import { Namespace } from '../../../kinds/groups/core/namespace.ts';

const START = Date.UTC(2030);
const at = (seconds: number) => new Date(START + seconds * 1000).toISOString();

/** A ConfigMap that was created after 10 s, changed by joe after 20 s, and deleted after 30 s. */
async function world(): Promise<TestServer> {
  const api = await testServer([Namespace, ConfigMap, Deployment], { clock: new ControlledClock(START) });
  const settings = { metadata: { name: 'settings', labels: { app: 'web' } }, data: { color: 'red' } };
  await api.clock.advance(10_000);
  await api.create('configmaps', settings);
  await api.create('configmaps', { metadata: { name: 'other' } });
  await api.clock.advance(10_000);
  const joe = { user: { name: 'joe', groups: [] }, userAgent: 'kubectl/v1.36', requestId: 'r1' };
  await api.patch('configmaps', 'settings', { data: { color: 'blue' } }, joe);
  await api.clock.advance(10_000);
  await api.delete('configmaps', 'settings');
  await api.clock.advance(10_000);
  return api;
}

async function read(api: TestServer, asked: Asked, plural = 'configmaps'): Promise<any> {
  const verb = asked.name === undefined ? 'list' : 'get';
  const call = { apiVersion: 'v1', namespace: 'default', user: { name: 'tester', groups: [] }, ...asked, verb, plural };
  const reply = (await api.server.handle(call as never)) as ListReply | ObjectReply;
  return JSON.parse((reply.type === 'list' ? reply : reply.item).json().toString());
}

const names = ({ items }: { items: { metadata: { name: string } }[] }) => items.map(({ metadata }) => metadata.name);

describe('objects as they were', () => {
  it('shows a list at a time and at a version', async () => {
    const api = await world();
    expect(names(await read(api, { past: { at: at(5) } }))).toEqual([]);
    const list = await read(api, { past: { at: at(15) } });
    expect(list).toMatchObject({ kind: 'ConfigMapList', items: [{}, { data: { color: 'red' } }] });
    expect(names(list)).toEqual(['other', 'settings']);
    const later = String(Number(list.metadata.resourceVersion) + 1);
    expect((await read(api, { past: { at: later } })).items[1].data.color).toBe('blue');
    expect(names(await read(api, { past: { at: at(35) } }))).toEqual(['other']);
  });

  it('selects by labels, fields and pages', async () => {
    const api = await world();
    const past = { at: at(15) };
    expect(names(await read(api, { past, options: { labelSelector: 'app=web' } }))).toEqual(['settings']);
    expect(names(await read(api, { past, options: { fieldSelector: 'metadata.name=other' } }))).toEqual(['other']);
    const first = await read(api, { past, options: { limit: 1 } });
    expect(names(first)).toEqual(['other']);
    await api.create('configmaps', { metadata: { name: 'p' } });
    const next = await read(api, { past, options: { limit: 1, continue: first.metadata.continue } });
    expect(names(next)).toEqual(['settings']);
    expect(next.metadata.continue).toBeUndefined();
  });

  it('shows one object, in the version of the request', async () => {
    const api = await world();
    expect(await read(api, { name: 'settings', past: { at: at(15) } })).toMatchObject({ data: { color: 'red' } });
    await expect(read(api, { name: 'settings', past: { at: at(35) } })).rejects.toMatchObject({ reason: 'NotFound' });
    const template = { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'c', image: 'i' }] } };
    const web = { metadata: { name: 'web' }, spec: { selector: { matchLabels: { a: 'b' } }, template } };
    const { metadata } = await api.create('deployments', web, { apiVersion: 'apps/v1' });
    await api.delete('deployments', 'web', { apiVersion: 'apps/v1' });
    const asked = { apiVersion: 'extensions/v1beta1', name: 'web', past: { at: metadata.resourceVersion } };
    expect(await read(api, asked, 'deployments')).toMatchObject({ apiVersion: 'extensions/v1beta1' });
  });

  it.each([
    ['a time before the history', at(-60), 'Expired', 'history begins at 2030-01-01T00:00:00.000Z'],
    ['a time in the future', at(60), 'BadRequest', 'is in the future: it is 2030-01-01T00:00:40.000Z'],
    ['something else', 'yesterday', 'BadRequest', 'expected a time such as'],
  ])('rejects %s', async (_, time, reason, message) => {
    const error = { reason, message: expect.stringContaining(message) };
    await expect(read(await world(), { past: { at: time } })).rejects.toMatchObject(error);
  });
});

describe('changes of an object', () => {
  it('tells who made them, newest first, with the states of the object', async () => {
    const { kind, items } = await read(await world(), { name: 'settings', past: {} });
    expect(kind).toBe('ChangeList');
    const object = (color: string) => expect.objectContaining({ kind: 'ConfigMap', data: { color } });
    const common = { group: '', version: 'v1', resource: 'configmaps', kind: 'ConfigMap', name: 'settings' };
    const tester = { ...common, namespace: 'default', user: 'tester', client: 'quarterdeck', fieldManager: 'unknown' };
    const joe = { user: 'joe', client: 'kubectl/v1.36', fieldManager: 'kubectl', requestID: 'r1' };
    const resourceVersion = expect.stringMatching(/^\d+$/);
    expect(items).toEqual([
      { ...tester, time: at(30), type: 'deleted', resourceVersion },
      { ...tester, ...joe, time: at(20), type: 'updated', resourceVersion, object: object('blue') },
      { ...tester, time: at(10), type: 'created', resourceVersion, object: object('red') },
    ]);
  });

  it('shows the state before a change when no other item does', async () => {
    const api = await world();
    const { items } = await read(api, { name: 'settings', past: { user: 'joe' } });
    expect(items).toHaveLength(1);
    expect(items[0]).toMatchObject({ before: { data: { color: 'red' } }, object: { data: { color: 'blue' } } });
  });

  it('come in pages', async () => {
    const api = await world();
    const first = await read(api, { name: 'settings', past: {}, options: { limit: 2 } });
    expect(first.items.map(({ type }: any) => type)).toEqual(['deleted', 'updated']);
    expect(first.items[1].before.data.color).toBe('red');
    const options = { limit: 2, continue: first.metadata.continue };
    const second = await read(api, { name: 'settings', past: {}, options });
    expect(second.items.map(({ type }: any) => type)).toEqual(['created']);
    expect(second.metadata.continue).toBeUndefined();
    const wrong = read(api, { name: 'settings', past: {}, options: { continue: 'x' } });
    await expect(wrong).rejects.toMatchObject({ reason: 'BadRequest' });
  });

  it('are limited to a range of time', async () => {
    const api = await world();
    const past = { since: at(15), until: at(25) };
    const types = async (asked: Asked) =>
      (await read(api, asked)).items.map(({ type, name }: any) => `${type} ${name}`);
    expect(await types({ name: 'settings', past })).toEqual(['updated settings']);
    expect(await types({ past: { until: at(25) } })).toEqual(['updated settings', 'created other', 'created settings']);
  });
});
