import { beforeEach, expect, it } from 'vitest';
import { type TestServer, testServer } from '../../../../test/support/server.ts';
import { ConfigMap } from '../../../kinds/groups/core/configuration/config-map.ts';
import { Namespace } from '../../../kinds/groups/core/namespace.ts';

let api: TestServer;
beforeEach(async () => {
  api = await testServer([ConfigMap, Namespace]);
});

const map = (name: string) => ({ metadata: { name } });

const names = async () => (await api.list('configmaps')).items.map(({ object }) => object.metadata.name);
beforeEach(async () => {
  for (const name of ['a', 'b', 'c']) await api.create('configmaps', map(name));
});

it.each([
  [{ resourceVersion: 'bogus' }, 400],
  [{ resourceVersion: '-1' }, 400],
  [{ resourceVersionMatch: 'Exact' }, 422],
  [{ resourceVersionMatch: 'Nearly', resourceVersion: '1' }, 422],
  [{ resourceVersionMatch: 'Exact', resourceVersion: '0' }, 422],
  [{ sendInitialEvents: true }, 422],
  [{ continue: 'bogus' }, 400],
  [{ fieldSelector: 'spec.nope=a' }, 400],
  [{ labelSelector: 'app===x!' }, 400],
])('deletecollection rejects %j as a list does, and deletes nothing', async (options, code) => {
  const listed = await api.list('configmaps', { options }).catch((error) => error.toStatus());
  const deleted = await api.deleteCollection('configmaps', { options }).catch((error) => error.toStatus());
  expect(deleted).toEqual(listed);
  expect(deleted.code).toBe(code);
  expect(await names()).toEqual(['a', 'b', 'c']);
});

it('deletecollection waits for a future resourceVersion, up to a timeout', async () => {
  const asked = api.deleteCollection('configmaps', { options: { resourceVersion: '999999' } });
  const seen = expect(asked).rejects.toMatchObject({ code: 504 });
  await api.clock.advance(3000);
  await seen;
  expect(await names()).toEqual(['a', 'b', 'c']);
});

it('deletecollection deletes the objects of a list at the same version', async () => {
  const { metadata } = await api.list('configmaps');
  await api.create('configmaps', map('d'));
  const options = { resourceVersion: metadata.resourceVersion, resourceVersionMatch: 'Exact' };
  await api.deleteCollection('configmaps', { options });
  expect(await names()).toEqual(['d']);
  await api.deleteCollection('configmaps', { options: { resourceVersion: '0' } });
  expect(await names()).toEqual([]);
});

it('deletecollection deletes no more than its limit, and continues after the end of a list', async () => {
  const { metadata } = await api.list('configmaps', { options: { limit: 1 } });
  await api.deleteCollection('configmaps', { options: { limit: 1, continue: metadata.continue! } });
  expect(await names()).toEqual(['a', 'c']);
  await api.deleteCollection('configmaps', { options: { limit: 1 } });
  expect(await names()).toEqual(['c']);
});
