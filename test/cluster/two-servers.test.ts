import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { systemClock } from '../../src/base/clock.ts';
import { allKinds } from '../../src/kinds/all.ts';
import type { Call, ObjectReply } from '../../src/server/api.ts';
import { createServer, type Server } from '../../src/server/index.ts';
import { openEtcdStore, type Store } from '../../src/store/index.ts';
import { etcdMissing, TestEtcd } from '../support/etcd.ts';

const missing = etcdMissing();
if (missing) console.warn(missing);

const user = { name: 'tester', groups: [] };
const at = { apiVersion: 'v1', plural: 'configmaps', namespace: 'default', user };

describe.skipIf(missing)('two servers on one etcd', () => {
  let etcd: TestEtcd;
  const stores: Store[] = [];
  let servers: Server[];

  beforeAll(async () => {
    etcd = await TestEtcd.start();
  });
  afterAll(async () => {
    for (const server of servers) server.close();
    for (const store of stores) await store.close();
    await etcd.remove();
  });
  beforeEach(async () => {
    servers = [];
    for (let i = 0; i < 2; i++) {
      const store = await openEtcdStore({ endpoints: [etcd.endpoint], clock: systemClock });
      stores.push(store);
      servers.push(await createServer({ store, kinds: allKinds, clock: systemClock, freeze: true }));
    }
  });

  const ask = async (server: number, call: Partial<Call>): Promise<any> => {
    const reply = (await servers[server]!.handle({ ...at, ...call } as Call)) as ObjectReply;
    return reply.type === 'object' ? reply.item.object : reply;
  };

  it('read each other’s writes at once, in gets and in lists', async () => {
    for (let i = 0; i < 30; i++) {
      const name = `a-${i}`;
      await ask(i % 2, { verb: 'create', body: { metadata: { name }, data: { i: String(i) } } });
      expect(await ask((i + 1) % 2, { verb: 'get', name })).toMatchObject({ data: { i: String(i) } });
      const list = await servers[(i + 1) % 2]!.handle({ ...at, verb: 'list', options: { labelSelector: '' } });
      expect(list.type === 'list' && list.items.some(({ object }) => object.metadata.name === name)).toBe(true);
    }
  });

  it('lose no patch when both write the same object', async () => {
    await ask(0, { verb: 'create', body: { metadata: { name: 'both' } } });
    await Promise.all(
      Array.from({ length: 40 }, (_, i) =>
        ask(i % 2, { verb: 'patch', patchType: 'merge', name: 'both', body: { data: { [`k${i}`]: 'v' } } }),
      ),
    );
    expect(Object.keys((await ask(0, { verb: 'get', name: 'both' })).data)).toHaveLength(40);
  });

  it('give no address twice', async () => {
    const made = await Promise.all(
      Array.from({ length: 60 }, (_, i) =>
        ask(i % 2, {
          verb: 'create',
          plural: 'services',
          body: { metadata: { generateName: 's-' }, spec: { type: 'NodePort', ports: [{ port: 80 }] } },
        }),
      ),
    );
    expect(new Set(made.map(({ spec }) => spec.clusterIP)).size).toBe(60);
    expect(new Set(made.map(({ spec }) => spec.ports[0].nodePort)).size).toBe(60);
  });

  it('let only one of two creates of a name win', async () => {
    const tries = await Promise.allSettled(
      [0, 1].map((server) => ask(server, { verb: 'create', body: { metadata: { name: 'one' } } })),
    );
    expect(tries.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    expect(tries.find(({ status }) => status === 'rejected')).toMatchObject({ reason: { reason: 'AlreadyExists' } });
  });
});
