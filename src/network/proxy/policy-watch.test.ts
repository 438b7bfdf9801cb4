import { afterEach, beforeEach, expect, it } from 'vitest';
import { type TestServer, testServer } from '../../../test/support/server.ts';
import { silent } from '../../base/log.ts';
import { systemRandom } from '../../base/random.ts';
import { systemClock } from '../../base/time/clock.ts';
import { createClient } from '../../client/client.ts';
import { SERVICE_PROXY } from '../../client/component-users.ts';
import { directTransport } from '../../client/transport/direct-transport.ts';
import { allKinds } from '../../kinds/all.ts';
import type { PolicySet } from '../policy/policy-set.ts';
import { PolicyWatch } from './policy-watch.ts';

let api: TestServer;
let watch: PolicyWatch;
let applied: PolicySet[];
let failures: number;

beforeEach(async () => {
  api = await testServer(allKinds);
  applied = [];
  failures = 0;
  watch = new PolicyWatch({
    client: createClient(directTransport(api.server.direct(SERVICE_PROXY))),
    ...{ clock: systemClock, random: systemRandom, log: silent, node: 'here' },
    applier: {
      async isolate(policies) {
        // The kernel takes its time.
        await new Promise((resolve) => setImmediate(resolve));
        if (failures-- > 0) throw new Error('nft is not in the mood');
        applied.push(policies);
      },
    },
  });
  await watch.ready;
});
afterEach(() => watch.stop());

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

it('does not admit while policies cannot be applied', async () => {
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

it('takes an address for that of the pod which starts with it', async () => {
  await policy();
  await watch.admit(await pod('db'), ['10.0.0.5']);
  await show('db', '10.0.0.5');
  // Its node has ended it, and the API does not know.
  await watch.admit(await pod('other', {}), ['10.0.0.5']);
  expect(isolated()).toEqual([]);
});

it('does not apply anything for a pod that is known', async () => {
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
