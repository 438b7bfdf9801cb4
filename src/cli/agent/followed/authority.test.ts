import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { testServer } from '../../../../test/support/server.ts';
import { silent } from '../../../base/log.ts';
import { systemRandom } from '../../../base/random.ts';
import { ControlledClock } from '../../../base/time/clock.ts';
import { createClient } from '../../../client/client.ts';
import { nodeUser } from '../../../client/component-users.ts';
import { InformerFactory } from '../../../client/informer/informer-factory.ts';
import { directTransport } from '../../../client/transport/direct-transport.ts';
import { allKinds } from '../../../kinds/all.ts';
import { ConfigMap } from '../../../kinds/groups/core/configuration/config-map.ts';
import { issue, newIssuer, newKey } from '../../../protocols/x509/certificate.ts';
import { followAuthority, isOfNewest, keepAuthority, trustedAuthority } from './authority.ts';

const clock = new ControlledClock();
let directory: string;
let end: AbortController;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'qd-agent-authority-'));
  end = new AbortController();
});
afterEach(async () => {
  end.abort();
  await rm(directory, { recursive: true });
});

async function newAuthority(commonName: string) {
  const { privateKey, publicKey } = await newKey();
  const validity = { notBefore: clock.now(), notAfter: clock.now() + 86_400_000 };
  const issuer = newIssuer({ commonName }, privateKey);
  const request = { subject: { commonName }, publicKey, usage: 'authority', ...validity } as const;
  const leaf = { ...request, subject: { commonName: 'node' }, usage: 'client', names: [] } as const;
  return { ca: issue(request, issuer, systemRandom), leaf: issue(leaf, issuer, systemRandom) };
}

test('a node follows the authorities that the cluster publishes, and tries again', async () => {
  const [old, next] = [await newAuthority('old'), await newAuthority('next')];
  const { server } = await testServer(allKinds, { clock, authorization: ['Node', 'RBAC'], defaultRoles: true });
  const admin = createClient(directTransport(server.direct({ name: 'admin', groups: ['system:masters'] })));
  const published = admin.of(ConfigMap).in('kube-public');
  await published.create({
    metadata: { name: 'kube-root-ca.crt', namespace: 'kube-public' },
    data: { 'ca.crt': old.ca },
  });
  const client = createClient(directTransport(server.direct(nodeUser('machine-1'))));
  const informers = new InformerFactory({ client, clock, random: systemRandom, log: silent, signal: end.signal });
  const adopted: string[] = [];
  let isDown = true;
  followAuthority({
    ...{ informers, clock, log: silent, signal: end.signal, trusted: old.ca },
    adopt: async (authority) => {
      adopted.push(authority);
      if (isDown) throw new Error('the server does not answer');
    },
  });
  await informers.of(ConfigMap, { namespace: 'kube-public', fieldSelector: 'metadata.name=kube-root-ca.crt' }).synced;
  expect(adopted).toEqual([]);
  const publish = (text: string) =>
    published.patch('kube-root-ca.crt', { type: 'merge', changes: { data: { 'ca.crt': text } } });
  await publish('no certificate');
  await publish(next.ca + old.ca);
  await expect.poll(() => adopted).toEqual([next.ca + old.ca]);
  isDown = false;
  await clock.advance(10_000);
  await expect.poll(() => adopted).toHaveLength(2);
  await clock.advance(60_000);
  expect(adopted).toHaveLength(2);
});

test('what was followed is trusted after a restart, unless the agent is told of another cluster', async () => {
  const [old, next, other] = [await newAuthority('old'), await newAuthority('next'), await newAuthority('other')];
  expect(await trustedAuthority(directory, old.ca)).toBe(old.ca);
  await keepAuthority(directory, { told: old.ca, trusted: next.ca });
  expect(await trustedAuthority(directory, old.ca)).toBe(next.ca);
  expect(await trustedAuthority(directory, next.ca)).toBe(next.ca);
  expect(await trustedAuthority(directory, other.ca)).toBe(other.ca);
});

test('a certificate of a former authority is to be replaced', async () => {
  const [old, next] = [await newAuthority('old'), await newAuthority('next')];
  expect(isOfNewest(old.leaf, next.ca + old.ca)).toBe(false);
  expect(isOfNewest(next.leaf, next.ca + old.ca)).toBe(true);
});
