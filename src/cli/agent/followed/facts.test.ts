import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { testServer } from '../../../../test/support/server.ts';
import { rejectsOn } from '../../../base/event-loop/rejects-on.ts';
import { silent } from '../../../base/log.ts';
import { systemRandom } from '../../../base/random.ts';
import { ControlledClock } from '../../../base/time/clock.ts';
import { type Client, createClient } from '../../../client/client.ts';
import { nodeUser } from '../../../client/component-users.ts';
import { InformerFactory } from '../../../client/informer/informer-factory.ts';
import { directTransport } from '../../../client/transport/direct-transport.ts';
import { allKinds } from '../../../kinds/all.ts';
import { Service } from '../../../kinds/groups/core/service/service.ts';
import { EndpointSlice } from '../../../kinds/groups/discovery/endpoint-slice.ts';
import { type FollowedFact, type FollowOptions, followClusterDns, followServers, knownServers } from './facts.ts';

const clock = new ControlledClock();
let directory: string;
let client: Client;
let end: AbortController;
let informers: InformerFactory;
let fact: FollowedFact | undefined;
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

/** Options of an agent that begins. */
function begin(of: Client = client): FollowOptions {
  end = new AbortController();
  const { signal } = end;
  informers = new InformerFactory({ client: of, clock, random: systemRandom, log: silent, signal });
  return { informers, clock, log: silent, signal, directory };
}

async function stop(): Promise<void> {
  end.abort();
  await informers?.stopped();
  await fact?.written();
}

const create = (clusterIP: string) =>
  client
    .of(Service)
    .in('kube-system')
    .create({ metadata: { name: 'kube-dns' }, spec: { clusterIP, ports: [{ port: 53 }] } } as never);

/** Never answers. */
function silentClient(): Client {
  const answer = ({ signal }: { signal: AbortSignal }) => rejectsOn(signal);
  return createClient({ call: answer, watch: answer } as never);
}

const setServers = (...addresses: string[]) =>
  client
    .of(EndpointSlice)
    .in('default')
    .create({
      metadata: { name: addresses.join('-'), labels: { 'kubernetes.io/service-name': 'kubernetes' } },
      addressType: 'IPv4',
      ports: [{ name: 'https', port: 6443 }],
      endpoints: [{ addresses }],
    } as never);

test('a Service that appears after the start of the agent is used', async () => {
  fact = await followClusterDns(begin());
  expect(fact.values()).toEqual([]);
  await create('10.96.0.10');
  await expect.poll(() => fact!.values()).toEqual(['10.96.0.10']);
});

test('the last address of cluster DNS is used when no server answers', async () => {
  await create('10.96.0.10');
  fact = await followClusterDns(begin());
  expect(fact.values()).toEqual(['10.96.0.10']);
  await stop();
  const following = followClusterDns(begin(silentClient()));
  await expect.poll(() => clock.nextAt).toBeDefined();
  await clock.advance(5_000);
  fact = await following;
  expect(fact.values()).toEqual(['10.96.0.10']);
});

test('the servers are followed, and known at the next start', async () => {
  const seen: (readonly string[])[] = [];
  fact = await followServers(begin(), (servers) => seen.push(servers));
  await setServers('192.0.2.1');
  await expect.poll(() => seen.at(-1)).toEqual(['https://192.0.2.1:6443']);
  await setServers('192.0.2.2');
  await expect.poll(() => seen.at(-1)).toEqual(['https://192.0.2.1:6443', 'https://192.0.2.2:6443']);
  await stop();
  expect(await knownServers(directory)).toEqual(seen.at(-1));
});
