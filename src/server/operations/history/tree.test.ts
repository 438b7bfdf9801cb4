import { describe, expect, it } from 'vitest';
import { type TestServer, testServer } from '../../../../test/support/server.ts';
import type { ChangeList } from '../../../api/past.ts';
import type { TreeRequest } from '../../../api/served-action.ts';
import { ControlledClock } from '../../../base/time/clock.ts';
import { ConfigMap } from '../../../kinds/groups/core/configuration/config-map.ts';
import { Namespace } from '../../../kinds/groups/core/namespace.ts';
import type { Archive, PurgeRange } from '../../../store/archive/archive.ts';

const START = Date.UTC(2030);
const KINDS = [Namespace, ConfigMap];
const USER = { name: 'tester', groups: ['system:masters'] };

function ask(api: TestServer, method: string, path: string, query: Record<string, string> = {}): Promise<any> {
  const request: TreeRequest = {
    ...{ user: USER, method, path, query: new URLSearchParams(query) },
    body: async () => Buffer.from('{}'),
  };
  return api.server.history.answer(request);
}

describe('changes of all objects', () => {
  async function world() {
    const api = await testServer(KINDS, { clock: new ControlledClock(START) });
    for (const name of ['a', 'b', 'c', 'd']) {
      await api.clock.advance(1_000);
      const user = { name: name === 'c' ? 'joe' : 'ann', groups: [] };
      await api.create('configmaps', { metadata: { name } }, { user });
    }
    return api;
  }
  const names = ({ items }: ChangeList) => items.filter(({ kind }) => kind === 'ConfigMap').map(({ name }) => name);

  it('come newest first, in pages', async () => {
    const api = await world();
    const path = '/history/changes';
    expect(names(await ask(api, 'GET', path))).toEqual(['d', 'c', 'b', 'a']);
    const first = await ask(api, 'GET', path, { limit: '2' });
    expect(names(first)).toEqual(['d', 'c']);
    const next = { limit: '2', continue: first.metadata.continue };
    expect(names(await ask(api, 'GET', path, next))).toEqual(['b', 'a']);
  });

  it('can be those of a user, of a namespace and of a range of time', async () => {
    const api = await world();
    const path = '/history/changes';
    const at = (seconds: number) => new Date(START + seconds * 1000).toISOString();
    expect(names(await ask(api, 'GET', path, { user: 'joe' }))).toEqual(['c']);
    expect(names(await ask(api, 'GET', path, { since: at(1), until: at(3) }))).toEqual(['c', 'b']);
    expect(names(await ask(api, 'GET', path, { namespace: 'other' }))).toEqual([]);
  });

  it.each([
    [{ limit: '-1' }, 'limit'],
    [{ continue: '1 or 1' }, 'continue'],
    [{ since: 'x'.repeat(1000) }, 'since'],
  ])('reject %j', async (query, message) => {
    const error = { reason: 'BadRequest', message: expect.stringContaining(message) };
    await expect(ask(await world(), 'GET', '/history/changes', query)).rejects.toMatchObject(error);
  });

  it('have the objects of kinds that are not served any more', async () => {
    const api = await world();
    api.server.registry.remove(ConfigMap);
    const { items } = await ask(api, 'GET', '/history/changes');
    expect(items.filter(({ resource }: any) => resource === 'configmaps')).toHaveLength(4);
    const undo = { ...{ user: USER, method: 'POST', path: '/history/undo' }, query: new URLSearchParams() };
    const body = async () => Buffer.from(JSON.stringify({ since: String(items.at(-1).resourceVersion) }));
    const answer: any = await api.server.history.answer({ ...undo, body });
    expect(answer.items[0]).toMatchObject({
      action: 'conflict',
      reason: expect.stringContaining('the server has no kind configmaps now'),
    });
  });
});

describe('the history itself', () => {
  it('says how far it reaches', async () => {
    const api = await testServer(KINDS, { clock: new ControlledClock(START) });
    const { oldest, newest, revisions } = await ask(api, 'GET', '/history');
    expect(oldest.time).toBe('2030-01-01T00:00:00.000Z');
    expect(Number(newest.resourceVersion)).toBe(await api.store.revision());
    expect(revisions.length).toBeGreaterThan(0);
  });

  it.each([
    ['POST', '/history/changes', 'MethodNotAllowed'],
    ['GET', '/history/undo', 'MethodNotAllowed'],
    ['GET', '/history/nothing', 'NotFound'],
  ])('answers %s %s with %s', async (method, path, reason) => {
    await expect(ask(await testServer(KINDS), method, path)).rejects.toMatchObject({ reason });
  });
});

describe('deleting history', () => {
  async function purged(query: Record<string, string>) {
    const ranges: PurgeRange[] = [];
    const moment = { revision: 1, time: START };
    const archive = {
      bounds: () => ({ oldest: moment, newest: moment }),
      reached: async () => {},
      purge: async (range: PurgeRange) => {
        ranges.push(range);
        return { changes: 1, bytes: 2 };
      },
    } as unknown as Archive;
    const api = await testServer(KINDS, { archive });
    expect(await ask(api, 'DELETE', '/history', query)).toEqual({ changes: 1, bytes: 2 });
    return ranges[0];
  }

  it('is about an object, a kind, a time, or everything', async () => {
    const maps = { resource: 'configmaps', namespace: 'default' };
    expect(await purged(maps)).toEqual({ prefix: '/registry/core/configmaps/default/' });
    expect(await purged({ ...maps, name: 'a' })).toEqual({ key: '/registry/core/configmaps/default/a' });
    expect(await purged({ resource: 'configmaps', before: '1' })).toEqual({
      prefix: '/registry/core/configmaps/',
      before: 1,
    });
    expect(await purged({ all: 'true' })).toEqual({});
  });

  it.each([
    [{}, 'nothing says which history'],
    [{ namespace: 'default' }, 'need a resource'],
    [{ resource: 'things' }, 'no things in v1'],
    [{ resource: 'configmaps', name: 'a' }, 'set namespace'],
  ])('needs to know what: %j', async (query, message) => {
    const error = { reason: 'BadRequest', message: expect.stringContaining(message) };
    await expect(ask(await testServer(KINDS), 'DELETE', '/history', query)).rejects.toMatchObject(error);
  });
});
