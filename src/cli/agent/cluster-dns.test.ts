import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { testServer } from '../../../test/support/server.ts';
import { rejectsOn } from '../../base/event-loop/rejects-on.ts';
import { silent } from '../../base/log.ts';
import { systemRandom } from '../../base/random.ts';
import { ControlledClock } from '../../base/time/clock.ts';
import { type Client, createClient } from '../../client/client.ts';
import { nodeUser } from '../../client/component-users.ts';
import { directTransport } from '../../client/transport/direct-transport.ts';
import { allKinds } from '../../kinds/all.ts';
import { Service } from '../../kinds/groups/core/service/service.ts';
import { type ClusterDns, followClusterDns } from './cluster-dns.ts';

const clock = new ControlledClock();
let directory: string;
let client: Client;
let end: AbortController;
let dns: ClusterDns;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'qd-agent-dns-'));
  end = new AbortController();
  const { server } = await testServer(allKinds, { clock });
  client = createClient(directTransport(server.direct(nodeUser('machine-1'))));
});
afterEach(async () => {
  await stop();
  await rm(directory, { recursive: true });
});

async function follow(of: Client = client): Promise<ClusterDns> {
  end = new AbortController();
  const following = followClusterDns({
    ...{ client: of, clock, random: systemRandom, log: silent, signal: end.signal, directory },
  });
  return following;
}

async function stop(): Promise<void> {
  end.abort();
  await dns?.stopped();
}

const create = (clusterIP: string) =>
  client
    .of(Service)
    .in('kube-system')
    .create({ metadata: { name: 'kube-dns' }, spec: { clusterIP, ports: [{ port: 53 }] } } as never);

test('a Service that appears after the start of the agent is used', async () => {
  dns = await follow();
  expect(dns.addresses()).toEqual([]);
  await create('10.96.0.10');
  await expect.poll(() => dns.addresses()).toEqual(['10.96.0.10']);
});

test('the last address is used when no server answers', async () => {
  await create('10.96.0.10');
  dns = await follow();
  expect(dns.addresses()).toEqual(['10.96.0.10']);
  await stop();
  const answer = ({ signal }: { signal: AbortSignal }) => rejectsOn(signal);
  const silentClient = createClient({ call: answer, watch: answer } as never);
  const following = follow(silentClient);
  await expect.poll(() => clock.nextAt).toBeDefined();
  await clock.advance(5_000);
  dns = await following;
  expect(dns.addresses()).toEqual(['10.96.0.10']);
});
