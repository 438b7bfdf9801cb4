import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Call } from '../../../api/call.ts';
import type { Release } from '../../../api/release.ts';
import type { ObjectReply } from '../../../api/reply.ts';
import { ControlledClock, sleep } from '../../../base/time/clock.ts';
import { allKinds } from '../../../kinds/all.ts';
import { MemoryStore } from '../../../store/memory/memory-store.ts';
import { StoreUnavailable } from '../../../store/store.ts';
import { createServer, type Server } from '../../index.ts';
import { LEASE_DURATION_MS, RENEW_INTERVAL_MS } from './lease.ts';

const user = { name: 'tester', groups: ['system:masters'] };
const A = { address: '192.0.2.1', port: 6443 };
const B = { address: '192.0.2.2', port: 6443 };

let clock: ControlledClock;
let store: MemoryStore;
const servers: Server[] = [];
beforeEach(() => {
  clock = new ControlledClock();
  store = new MemoryStore({ clock });
});
afterEach(async () => {
  for (const server of servers.splice(0)) server.close();
  await store.close();
});

const MAX_LEAVE_MS = 3_000;
/** Time limit of a request to etcd. */
const STORE_TIMEOUT_MS = 5_000;

const CURRENT = { version: '0.2.0', level: 2 };

interface StartOptions {
  isShared?: boolean;
  over?: MemoryStore;
  release?: Release;
  candidateFor?: string[];
}

/** Two servers in one process share the memory store, as two processes share etcd. */
async function start(
  advertise: typeof A,
  { isShared = true, over = store, release = CURRENT, candidateFor = [] }: StartOptions = {},
): Promise<Server> {
  const server = await createServer({
    store: over,
    kinds: allKinds,
    clock,
    freeze: true,
    advertise,
    peer: isShared ? { hostname: 'host', release, candidateFor } : undefined,
  });
  servers.push(server);
  return server;
}

const ask = async (call: Partial<Call>): Promise<any> => {
  const base = { apiVersion: 'v1', namespace: 'default', user };
  const reply = (await servers[0]!.handle({ ...base, ...call } as Call)) as ObjectReply;
  return reply.type === 'object' ? reply.item.object : reply;
};
const addresses = async (): Promise<string[]> => {
  const { subsets = [] } = await ask({ verb: 'get', plural: 'endpoints', name: 'kubernetes' });
  const slices = { apiVersion: 'discovery.k8s.io/v1', plural: 'endpointslices' };
  const listed = await ask({ ...slices, verb: 'list' });
  const inSlices = listed.items
    .flatMap(({ object }: any) =>
      object.endpoints.flatMap((each: any) => each.addresses.map((ip: string) => `${ip}:${object.ports[0].port}`)),
    )
    .sort();
  const inSubsets = subsets
    .flatMap(({ addresses: list, ports }: any) => list.map(({ ip }: any) => `${ip}:${ports[0].port}`))
    .sort();
  expect(inSlices).toEqual(inSubsets);
  return inSubsets;
};
const leases = async () => {
  const where = { apiVersion: 'coordination.k8s.io/v1', plural: 'leases', namespace: 'kube-system' };
  const options = { labelSelector: 'apiserver.kubernetes.io/identity=kube-apiserver' };
  return (await ask({ ...where, verb: 'list', options })).items.map(({ object }: any) => object);
};

describe('servers on one store', () => {
  it('are all among the endpoints, whoever started last', async () => {
    await (await start(A)).join();
    expect(await addresses()).toEqual(['192.0.2.1:6443']);
    await (await start(B)).join();
    await clock.advance(0);
    expect(await addresses()).toEqual(['192.0.2.1:6443', '192.0.2.2:6443']);
    const [first] = await leases();
    expect(first).toMatchObject({
      metadata: {
        name: expect.stringMatching(/^apiserver-[0-9a-f]{26}$/),
        labels: { 'kubernetes.io/hostname': 'host' },
        annotations: { 'apiserver.kubernetes.io/version': '0.2.0', 'apiserver.kubernetes.io/level': '2' },
      },
      spec: {
        leaseDurationSeconds: 4,
        holderIdentity: expect.stringMatching(/^apiserver-[0-9a-f]{26}_[0-9a-f-]{36}$/),
      },
    });
    await clock.advance(10 * LEASE_DURATION_MS);
    expect(await addresses()).toEqual(['192.0.2.1:6443', '192.0.2.2:6443']);
    expect(await leases()).toHaveLength(2);
  });

  it('on one machine differ by their ports', async () => {
    await (await start(A)).join();
    const leave = await (await start({ ...A, port: 6444 })).join();
    await clock.advance(0);
    expect(await addresses()).toEqual(['192.0.2.1:6443', '192.0.2.1:6444']);
    await leave();
    await clock.advance(0);
    expect(await addresses()).toEqual(['192.0.2.1:6443']);
  });

  it('disappear at once when they stop cleanly', async () => {
    await (await start(A)).join();
    const leave = await (await start(B)).join();
    await clock.advance(0);
    await leave();
    expect(await addresses()).toEqual(['192.0.2.1:6443']);
    expect(await leases()).toHaveLength(1);
  });

  it('disappear when they die, only after their lease expires', async () => {
    await (await start(A)).join();
    const b = await start(B);
    await b.join();
    await clock.advance(RENEW_INTERVAL_MS);
    servers.splice(servers.indexOf(b), 1);
    b.close();
    for (let past = 0; past < LEASE_DURATION_MS - RENEW_INTERVAL_MS; past += RENEW_INTERVAL_MS) {
      await clock.advance(RENEW_INTERVAL_MS);
    }
    expect(await addresses()).toEqual(['192.0.2.1:6443', '192.0.2.2:6443']);
    await clock.advance(1_000);
    expect(await addresses()).toEqual(['192.0.2.1:6443']);
    expect(await leases()).toHaveLength(1);
    await (await start(B)).join();
    await clock.advance(0);
    expect(await addresses()).toEqual(['192.0.2.1:6443', '192.0.2.2:6443']);
  });

  it('are not removed by one that was blocked, or did not reach the store', async () => {
    let isStalled = false;
    const stalled: (() => void)[] = [];
    const late = {
      commit: async (...given: Parameters<MemoryStore['commit']>) => {
        if (isStalled) await new Promise<void>((resolve) => stalled.push(resolve));
        return store.commit(...given);
      },
    };
    const shared = new Proxy(store, {
      get: (target, name) => {
        const value = name === 'commit' ? late.commit : Reflect.get(target, name);
        return typeof value === 'function' ? value.bind(target) : value;
      },
    });
    await (await start(A, { isShared: true, over: shared })).join();
    await (await start(B, { isShared: true, over: shared })).join();
    const seen: string[][] = [];
    const look = async () => seen.push(await addresses());
    await clock.advance(RENEW_INTERVAL_MS);
    isStalled = true;
    await clock.advance(3 * LEASE_DURATION_MS);
    isStalled = false;
    for (const go of stalled.splice(0)) go();
    for (let step = 0; step < 20; step++) {
      await clock.advance(RENEW_INTERVAL_MS / 4);
      await look();
    }
    for (const each of seen) expect(each).toEqual(['192.0.2.1:6443', '192.0.2.2:6443']);
    expect(await leases()).toHaveLength(2);
  });

  describe('of different releases', () => {
    const candidateFor = ['kube-scheduler'];
    const older = { release: { version: '0.1.3', level: 1 }, candidateFor };

    it('know which of them is older, for the components that it is a candidate for', async () => {
      const a = await start(A, { candidateFor });
      const b = await start(B, older);
      await a.join();
      const seen: boolean[] = [];
      a.others?.onChange(() => seen.push(a.others?.hasOlderCandidate('kube-scheduler') ?? false));
      expect(a.others?.hasOlderCandidate('kube-scheduler')).toBe(false);
      const leave = await b.join();
      await clock.advance(0);
      expect(a.others?.hasOlderCandidate('kube-scheduler')).toBe(true);
      expect(a.others?.hasOlderCandidate('kube-controller-manager')).toBe(false);
      expect(b.others?.hasOlderCandidate('kube-scheduler')).toBe(false);
      await clock.advance(3 * LEASE_DURATION_MS);
      await leave();
      await clock.advance(0);
      expect(a.others?.hasOlderCandidate('kube-scheduler')).toBe(false);
      expect(seen).toEqual([true, false]);
    });

    it('count as gone when the lease of the older one has expired', async () => {
      const a = await start(A, { candidateFor });
      await a.join();
      const b = await start(B, older);
      await b.join();
      await clock.advance(RENEW_INTERVAL_MS);
      expect(a.others?.hasOlderCandidate('kube-scheduler')).toBe(true);
      servers.splice(servers.indexOf(b), 1);
      b.close();
      for (let past = 0; past < LEASE_DURATION_MS + RENEW_INTERVAL_MS; past += RENEW_INTERVAL_MS) {
        await clock.advance(RENEW_INTERVAL_MS);
      }
      expect(a.others?.hasOlderCandidate('kube-scheduler')).toBe(false);
    });
  });

  it('know the addresses of all that live, and say when that changes', async () => {
    const a = await start(A);
    await a.join();
    const known = () => a.others?.addresses().map(({ address }) => address);
    expect(known()).toEqual(['192.0.2.1']);
    const seen: unknown[] = [];
    a.others?.onChange(() => seen.push(known()));
    const leave = await (await start(B)).join();
    await clock.advance(0);
    expect(known()).toEqual(['192.0.2.1', '192.0.2.2']);
    await leave();
    await clock.advance(0);
    expect(known()).toEqual(['192.0.2.1']);
    expect(seen).toEqual([['192.0.2.1', '192.0.2.2'], ['192.0.2.1']]);
  });

  it('leave the last address when the last one stops', async () => {
    const leave = await (await start(A)).join();
    await leave();
    expect(await addresses()).toEqual(['192.0.2.1:6443']);
    expect(await leases()).toEqual([]);
  });

  it('restore the endpoints and their leases when somebody deletes them', async () => {
    await (await start(A)).join();
    await ask({ verb: 'delete', plural: 'endpoints', name: 'kubernetes' });
    await clock.advance(0);
    expect(await addresses()).toEqual(['192.0.2.1:6443']);
    const [{ metadata }] = await leases();
    const lease = { apiVersion: 'coordination.k8s.io/v1', plural: 'leases', namespace: 'kube-system' };
    await ask({ ...lease, verb: 'delete', name: metadata.name });
    await clock.advance(RENEW_INTERVAL_MS);
    expect(await leases()).toHaveLength(1);
  });
});

it('a server without a shared store needs no lease, and no timer', async () => {
  const before = clock.waiting;
  await (await start(A, { isShared: false })).join();
  expect(await addresses()).toEqual(['192.0.2.1:6443']);
  expect(await leases()).toEqual([]);
  expect(clock.waiting).toBe(before);
});

it('a server that stops while the store is silent goes within three seconds, and its lease expires', async () => {
  let isSilent = false;
  const commit = store.commit.bind(store);
  store.commit = async (...args) => {
    if (!isSilent) return commit(...args);
    await sleep(clock, STORE_TIMEOUT_MS);
    throw new StoreUnavailable('etcd did not answer');
  };
  const leave = await (await start(A)).join();
  isSilent = true;
  let isGone = false;
  const leaving = leave().then(() => {
    isGone = true;
  });
  for (let second = 0; second < MAX_LEAVE_MS / 1_000; second++) await clock.advance(1_000);
  expect(isGone).toBe(true);
  await leaving;
});
