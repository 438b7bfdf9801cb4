/** A namespace that is deleted while something is created in it. */
import { expect, it } from 'vitest';
import { type TestServer, testServer } from '../../../../../../test/support/server.ts';
import { ControlledClock } from '../../../../../base/time/clock.ts';
import { ConfigMap } from '../../../../../kinds/groups/core/configuration/config-map.ts';
import { Namespace } from '../../../../../kinds/groups/core/namespace.ts';
import { MemoryStore } from '../../../../../store/memory/memory-store.ts';

/** A server on which `between` runs between the admission of a ConfigMap and its commit. */
async function serverWith(between: (api: TestServer) => Promise<unknown>): Promise<TestServer> {
  const clock = new ControlledClock();
  const store = new MemoryStore({ clock });
  const commit = store.commit.bind(store);
  let happened = false;
  store.commit = async (writes, conditions) => {
    if (!happened && writes[0]?.key.includes('/configmaps/')) {
      happened = true;
      await between(api);
    }
    return commit(writes, conditions);
  };
  const api = await testServer([ConfigMap, Namespace], { clock, store });
  await api.create('namespaces', { metadata: { name: 'n' } }, { namespace: undefined });
  return api;
}

const map = { metadata: { name: 'a' } };
const cluster = { namespace: undefined };

it('rejects the create once it is being deleted', async () => {
  const api = await serverWith((it) => it.delete('namespaces', 'n', cluster));
  await expect(api.create('configmaps', map, { namespace: 'n' })).rejects.toMatchObject({
    code: 403,
    message: expect.stringContaining('because it is being terminated'),
  });
  expect((await api.list('configmaps', { namespace: 'n' })).items).toEqual([]);
});

it('rejects the create when it is gone', async () => {
  const api = await serverWith(async (it) => {
    await it.delete('namespaces', 'n', cluster);
    await it.update('namespaces', { metadata: { name: 'n' }, spec: {} }, { ...cluster, subresource: 'finalize' });
  });
  await expect(api.create('configmaps', map, { namespace: 'n' })).rejects.toMatchObject({ code: 404 });
});

it('accepts the create when it was merely changed', async () => {
  const api = await serverWith((it) => it.patch('namespaces', 'n', { metadata: { labels: { a: 'b' } } }, cluster));
  expect((await api.create('configmaps', map, { namespace: 'n' })).metadata.name).toBe('a');
});
