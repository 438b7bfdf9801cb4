/** Lists that are requested again are cached, however many others changed in between. */
import { beforeEach, expect, it } from 'vitest';
import { type TestServer, testServer } from '../../../../test/support/server.ts';
import { isMovable, isShared } from '../../../base/bytes/shared-buffer.ts';
import { allKinds } from '../../../kinds/all.ts';

const ABOVE_SHARED_LIMIT = 25;

let api: TestServer;
beforeEach(async () => {
  api = await testServer(allKinds);
  for (const name of ['a', 'b']) {
    await api.create('configmaps', { metadata: { name, labels: { name } }, data: { text: 'x'.repeat(900_000) } });
  }
});

it('transfers the memory of a list that is requested once', async () => {
  expect(isMovable((await api.list('configmaps')).json())).toBe(true);
});

it('transfers the memory of a page', async () => {
  for (let i = 0; i < 3; i++) {
    expect(isMovable((await api.list('configmaps', { options: { limit: 1 } })).json())).toBe(true);
  }
});

it('keeps a list that is requested again', async () => {
  const first = (await api.list('configmaps')).json();
  const second = (await api.list('configmaps')).json();
  const third = (await api.list('configmaps')).json();
  expect(isShared(second)).toBe(true);
  expect(third).toBe(second);
  expect(second.equals(first)).toBe(true);
});

it('keeps a list that is requested again after many changes of others', async () => {
  for (let i = 0; i < ABOVE_SHARED_LIMIT; i++) {
    await api.patch('configmaps', 'b', { data: { count: String(i) } });
    (await api.list('configmaps')).json();
  }
  const options = { labelSelector: 'name=a' };
  (await api.list('configmaps', { options })).json();
  const list = (await api.list('configmaps', { options })).json();
  expect(isShared(list)).toBe(true);
  expect((await api.list('configmaps', { options })).json()).toBe(list);
});
