import { afterEach, beforeEach, expect, it } from 'vitest';
import { type TestServer, testServer } from '../../../test/support/server.ts';
import { silent } from '../../base/log.ts';
import { systemRandom } from '../../base/random.ts';
import { systemClock } from '../../base/time/clock.ts';
import { createClient } from '../../client/client.ts';
import { SERVICE_PROXY } from '../../client/component-users.ts';
import { directTransport } from '../../client/transport/direct-transport.ts';
import { allKinds } from '../../kinds/all.ts';
import type { Kernel } from '../kernel/kernel.ts';
import { transactionText } from '../kernel/transaction-text.ts';
import { NftablesProxy } from '../nftables/nftables-proxy.ts';
import type { PolicySet } from '../policy/policy-set.ts';
import { PolicyWatch, type PolicyWatchOptions } from './policy-watch.ts';

let api: TestServer;
let watch: PolicyWatch;
let applied: PolicySet[];
let failures: number;

beforeEach(async () => {
  api = await testServer(allKinds);
  applied = [];
  failures = 0;
  watch = watchWith({
    async isolate(policies) {
      // The kernel takes its time.
      await new Promise((resolve) => setImmediate(resolve));
      if (failures-- > 0) throw new Error('nft is not in the mood');
      applied.push(policies);
    },
  });
  await watch.ready;
});
afterEach(() => watch.stop());

function watchWith(applier: PolicyWatchOptions['applier'], more: Partial<PolicyWatchOptions> = {}): PolicyWatch {
  const client = createClient(directTransport(api.server.direct(SERVICE_PROXY)));
  return new PolicyWatch({
    ...{ client, clock: systemClock, random: systemRandom, log: silent, node: 'here', applier, ...more },
  });
}

const isolated = () => applied.at(-1)?.flatMap(({ pods }) => pods) ?? [];

async function pod(name: string, labels: Record<string, string> = { app: 'db' }) {
  const containers = [{ name: 'c', image: 'i' }];
  return api.create('pods', { metadata: { name, labels }, spec: { nodeName: 'here', containers } });
}

const policy = (name = 'deny') =>
  api.create(
    'networkpolicies',
    { metadata: { name }, spec: { podSelector: { matchLabels: { app: 'db' } }, policyTypes: ['Ingress'] } },
    { apiVersion: 'networking.k8s.io/v1' },
  );

/** The status that a node writes. */
async function show(name: string, podIP: string): Promise<void> {
  const body = { status: { phase: 'Running', podIP, podIPs: [{ ip: podIP }] } };
  await api.patch('pods', name, body, { subresource: 'status' });
}

/** Changes an address in the store, as a release that did not check it would have written it. */
async function storeAddress(name: string, before: string, after: string): Promise<void> {
  const { rows } = await api.store.list('');
  const row = rows.find(({ key, value }) => key.endsWith(`/${name}`) && value.includes(`"podIP":"${before}"`))!;
  const value = Buffer.from(row.value.toString().replaceAll(before, after));
  await api.store.commit([{ key: row.key, value, expect: row.revision }]);
}

/** Resolves when the watch has seen everything that happened before. */
async function untilSeen(): Promise<void> {
  await pod('marker');
  await show('marker', '10.0.0.99');
  await expect.poll(isolated).toContain('10.0.0.99');
}

it('admits a pod when the policies hold for an address that the API does not show yet', async () => {
  await policy();
  const db = await pod('db');
  await watch.admit(db, ['10.0.0.5']);
  expect(isolated()).toEqual(['10.0.0.5']);
});

it('admits at once while there are no policies, and remembers the address for the first one', async () => {
  const before = applied.length;
  await watch.admit(await pod('db'), ['10.0.0.5']);
  expect(applied.length).toBe(before);
  await policy();
  await watch.admit(await pod('other', {}), ['10.0.0.6']);
  await expect.poll(isolated).toEqual(['10.0.0.5']);
});

it('no pod is admitted while policies cannot be applied', async () => {
  await policy();
  const db = await pod('db');
  failures = 1;
  let isAdmitted = false;
  const admitted = watch.admit(db, ['10.0.0.5']).then(() => {
    isAdmitted = true;
  });
  await expect.poll(() => failures).toBe(0);
  expect(isAdmitted).toBe(false);
  await admitted;
  expect(isolated()).toEqual(['10.0.0.5']);
});

it('an address belongs to the pod which starts with it', async () => {
  await policy();
  await watch.admit(await pod('db'), ['10.0.0.5']);
  await show('db', '10.0.0.5');
  // Its node has ended it, and the API does not know.
  await watch.admit(await pod('other', {}), ['10.0.0.5']);
  expect(isolated()).toEqual([]);
});

it('a pod that is known causes no changes', async () => {
  await policy();
  const db = await pod('db');
  await watch.admit(db, ['10.0.0.5']);
  await show('db', '10.0.0.5');
  await expect.poll(isolated).toEqual(['10.0.0.5']);
  await watch.admit(db, ['10.0.0.5']);
  const before = applied.length;
  await watch.admit(db, ['10.0.0.5']);
  expect(applied.length).toBe(before);
});

it('the address of a pod of this node comes from its runtime, whatever the status says', async () => {
  await policy();
  const db = await pod('db');
  await watch.admit(db, ['10.0.0.5']);
  await show('db', '10.0.0.5');
  await show('db', '10.0.0.77');
  await api.patch('pods', 'db', { status: { phase: 'Failed' } }, { subresource: 'status' });
  await untilSeen();
  expect(isolated()).toContain('10.0.0.5');
});

it('knows the pods that ran before it started', async () => {
  await policy();
  const db = await pod('db');
  await show('db', '10.0.0.77');
  const sets: PolicySet[] = [];
  const isolate = async (policies: PolicySet) => void sets.push(policies);
  const later = watchWith({ isolate }, { running: async () => new Map([[db.metadata.uid ?? '', ['10.0.0.5']]]) });
  await later.ready;
  await later.stop();
  expect(sets.at(-1)?.flatMap(({ pods }) => pods)).toEqual(['10.0.0.5']);
});

it('ignores pods elsewhere that claim the address of a pod of this node', async () => {
  await api.create(
    'networkpolicies',
    {
      metadata: { name: 'allow' },
      spec: {
        podSelector: { matchLabels: { app: 'db' } },
        ingress: [{ from: [{ podSelector: { matchLabels: { app: 'friend' } } }] }],
      },
    },
    { apiVersion: 'networking.k8s.io/v1' },
  );
  await watch.admit(await pod('db'), ['10.0.0.5']);
  await watch.admit(await pod('stranger', { app: 'stranger' }), ['10.0.0.6']);
  await show('stranger', '10.0.0.6');
  const containers = [{ name: 'c', image: 'i' }];
  const elsewhere = {
    metadata: { name: 'friend', labels: { app: 'friend' } },
    spec: { nodeName: 'there', containers },
  };
  await api.create('pods', elsewhere);
  await show('friend', '10.0.0.6');
  await untilSeen();
  expect(applied.at(-1)?.flatMap(({ allowances }) => allowances.flatMap(({ peers }) => peers?.pods ?? []))).toEqual([]);
});

it('applies policies although the status of a pod has text in the place of its address', async () => {
  let text = '';
  const kernel = {
    apply: async (table: string, commands: Parameters<typeof transactionText>[1]) => {
      text += await transactionText(table, commands);
    },
    prepare: async () => ({ filtersBridges: true }),
    routeLoopback: async () => {},
    setConntrack: async () => {},
    forget: async () => {},
    remove: async () => {},
  } as unknown as Kernel;
  const proxy = new NftablesProxy({ kernel, table: 'qd-test', podRanges: [], clock: systemClock, log: silent });
  const other = watchWith(proxy);
  await other.ready;
  await proxy.apply({ services: new Map(), serviceRanges: [] });
  await pod('bad');
  await show('bad', '9.9.9.9');
  await storeAddress('bad', '9.9.9.9', '9.9.9.9 }; add table inet x');
  await policy();
  await other.admit(await pod('db'), ['10.0.0.5']);
  await expect.poll(() => text, { timeout: 10_000 }).toContain('10.0.0.5 : jump policy-ingress-');
  expect(text).not.toContain('9.9.9.9');
  const reasons = async () =>
    (await api.list('events')).items.map((item) => JSON.parse(String(item.json())).reason as string);
  await expect.poll(reasons).toContain('InvalidPodIP');
  await other.stop();
});
