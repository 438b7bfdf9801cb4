import { X509Certificate } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Call } from '../../src/api/call.ts';
import type { ObjectReply } from '../../src/api/reply.ts';
import { authentication } from '../../src/assembly/control-plane/authentication.ts';
import { tokenSettings } from '../../src/assembly/control-plane/service-account-tokens.ts';
import { openPki } from '../../src/assembly/keys/pki.ts';
import { shareKeys } from '../../src/assembly/keys/shared-keys.ts';
import { silent } from '../../src/base/log.ts';
import { systemRandom } from '../../src/base/random.ts';
import { ControlledClock, systemClock } from '../../src/base/time/clock.ts';
import { allKinds } from '../../src/kinds/all.ts';
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
  let servers: Server[] = [];

  beforeAll(async () => {
    etcd = await TestEtcd.start();
  });
  afterAll(async () => {
    for (const server of servers) server.close();
    for (const store of stores) await store.close();
    await etcd.remove();
  });
  beforeEach(async () => {
    for (const server of servers) server.close();
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

  describe('known by their leases', () => {
    const A = { address: '192.0.2.1', port: 6443 };
    const B = { address: '192.0.2.2', port: 6443 };
    let clock: ControlledClock;
    const start = async (advertise: typeof A) => {
      const store = await openEtcdStore({ endpoints: [etcd.endpoint], clock: systemClock });
      stores.push(store);
      const peer = { hostname: advertise.address, release: { version: '0.1.0', level: 1 }, candidateFor: [] };
      const server = await createServer({ store, kinds: allKinds, clock, advertise, peer });
      servers.push(server);
      return server;
    };
    const addresses = async () => {
      const { subsets } = await ask(0, { verb: 'get', plural: 'endpoints', name: 'kubernetes' });
      return subsets.flatMap((subset: any) => subset.addresses.map(({ ip }: any) => ip));
    };
    beforeEach(() => {
      clock = new ControlledClock();
    });

    it('are both among the endpoints, whoever started last, until one stops', async () => {
      await (await start(A)).join();
      const leave = await (await start(B)).join();
      await expect.poll(addresses).toEqual([A.address, B.address]);
      await leave();
      expect(await addresses()).toEqual([A.address]);
    });

    it('are gone from the endpoints when they die and the lease expires', async () => {
      await (await start(A)).join();
      const b = await start(B);
      await b.join();
      await expect.poll(addresses).toEqual([A.address, B.address]);
      // As after kill -9: it renews and removes nothing.
      b.close();
      await clock.advance(3_000);
      expect(await addresses()).toEqual([A.address, B.address]);
      // A server that has not renewed its own lease lately does not judge that of another one.
      const afterAWhile = async () => {
        await clock.advance(500);
        return addresses();
      };
      await expect.poll(afterAWhile).toEqual([A.address]);
    });
  });

  it('accept each other’s tokens and client certificates', async () => {
    const home = await mkdtemp(join(tmpdir(), 'two-servers-'));
    try {
      const tools = { clock: systemClock, random: systemRandom, log: silent };
      const member = async (name: string, index: number) => {
        const directory = join(home, name);
        await shareKeys({ ...tools, store: stores.at(index - 2)!, directory });
        const pki = await openPki({ ...tools, directory, names: ['localhost'] });
        const tokens = tokenSettings({}, pki, systemRandom);
        const authenticating = await authentication({ ...tools, accounts: tokens, anonymous: false });
        return { pki, tokens, ...authenticating(servers[index]!.find) };
      };
      const members = await Promise.all([member('a', 0), member('b', 1)]);
      const { metadata } = await ask(0, {
        plural: 'serviceaccounts',
        verb: 'create',
        body: { metadata: { name: 'app' } },
      });
      const account = { name: 'app', uid: metadata.uid as string };
      for (const [issuer, verifier] of [members, members.toReversed()]) {
        const { audiences } = issuer!.tokens;
        const now = Math.floor(systemClock.now() / 1000);
        const token = issuer!.tokens.bound.issue({ namespace: 'default', account, audiences, now, seconds: 600 });
        await expect
          .poll(() => verifier!.identify(token, []))
          .toMatchObject({ user: { name: 'system:serviceaccount:default:app' } });
        const authority = new X509Certificate(verifier!.pki.authority);
        expect(new X509Certificate(issuer!.pki.admin.certificate).verify(authority.publicKey)).toBe(true);
      }
    } finally {
      await rm(home, { recursive: true });
    }
  });
});
