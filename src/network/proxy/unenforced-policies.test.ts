import { afterEach, beforeEach, expect, it } from 'vitest';
import { type TestServer, testServer } from '../../../test/support/server.ts';
import { silent } from '../../base/log.ts';
import { systemRandom } from '../../base/random.ts';
import { systemClock } from '../../base/time/clock.ts';
import { createClient } from '../../client/client.ts';
import { SERVICE_PROXY } from '../../client/component-users.ts';
import { directTransport } from '../../client/transport/direct-transport.ts';
import { allKinds } from '../../kinds/all.ts';
import { reportUnenforcedPolicies } from './unenforced-policies.ts';

let api: TestServer;
let stop: () => Promise<void>;
const warnings: string[] = [];

beforeEach(async () => {
  api = await testServer(allKinds, { authorization: ['RBAC'], defaultRoles: true });
  const client = createClient(directTransport(api.server.direct(SERVICE_PROXY)));
  const log = { ...silent, warn: (message: string) => void warnings.push(message) };
  stop = reportUnenforcedPolicies({ client, clock: systemClock, random: systemRandom, log, node: 'n1' });
});
afterEach(() => stop());

it('gives every policy an event that names the node, and logs one warning', async () => {
  const policy = (name: string) =>
    api.create(
      'networkpolicies',
      { metadata: { name }, spec: { podSelector: {} } },
      { apiVersion: 'networking.k8s.io/v1' },
    );
  await policy('first');
  await policy('second');
  const events = async () => {
    const { items } = await api.list('events');
    const found = items.map((item) => JSON.parse(String(item.json())));
    return found.map(({ involvedObject, reason, message }) => `${involvedObject.name} ${reason} ${message}`).sort();
  };
  const text = 'NetworkPolicyNotEnforced Node n1 does not enforce network policies: that needs root and nft';
  await expect.poll(events).toEqual([`first ${text}`, `second ${text}`]);
  expect(warnings).toHaveLength(1);
});
