/** Moves the time by ten years, a day at a time, on three servers, their etcd and an agent that are never restarted. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { openMemberKeys, readEtcdAuthority, writeEtcdAuthority } from '../../src/assembly/etcd/certificates.ts';
import { memberPaths } from '../../src/assembly/etcd/paths.ts';
import { blocksOf, firstBlock } from '../../src/assembly/keys/pki.ts';
import { systemRandom } from '../../src/base/random.ts';
import { ControlledClock } from '../../src/base/time/clock.ts';
import { MemoryStore } from '../../src/store/memory/memory-store.ts';
import { FollowedNode } from '../support/certificates/followed-node.ts';
import { startKeyServer } from '../support/certificates/key-server.ts';
import { distrust } from '../support/certificates/trust.ts';

const DAY_MS = 24 * 3_600_000;
const DAYS = 3653;
const NAMES = ['a', 'b', 'c'];

let directory: string;
let clock: ControlledClock;
let store: MemoryStore;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'qd-years-'));
  clock = new ControlledClock();
  store = new MemoryStore({ clock });
});
afterEach(async () => {
  await store.close();
  await rm(directory, { recursive: true });
});

/** The keys of three members of etcd, of which the last two have joined. */
async function members() {
  const paths = NAMES.map((name) => memberPaths(join(directory, name)));
  const open = (index: number) =>
    openMemberKeys({ paths: paths[index]!, host: `192.0.2.${index + 1}`, clock, random: systemRandom });
  const first = await open(0);
  const authority = await readEtcdAuthority(paths[0]!);
  for (const each of paths.slice(1)) await writeEtcdAuthority(each, authority);
  return [first, await open(1), await open(2)];
}

it('servers, members of etcd and an agent trust each other on every day', { timeout: 300_000 }, async () => {
  const servers = await Promise.all(
    NAMES.map((name) => startKeyServer({ directory: join(directory, name), store, clock, isShared: true })),
  );
  const etcd = await members();
  let day = 0;
  /** The server that leads on a day: it publishes the authorities, and signs. */
  const leading = () => servers[day % servers.length]!.pki();
  const node = new FollowedNode({
    name: 'n1',
    directory: join(directory, 'agent'),
    clock,
    trusted: leading().authority,
    signing: () => leading().signing,
  });
  await node.settled();
  const authorities = new Set<string>();
  const problems = (now: number, agentClients: readonly { readonly ca: string; readonly cert: string }[]) => [
    ...servers.flatMap(({ pki }) => [
      ...servers.flatMap((other) => [
        distrust(pki().serving.certificate, other.pki().authority, now),
        distrust(pki().admin.certificate, other.pki().authority, now),
        distrust(pki().frontProxy.certificate, other.pki().frontProxy.authority, now),
      ]),
      distrust(pki().serving.certificate, node.trusted, now),
      distrust(node.certificate('client'), pki().authority, now),
    ]),
    ...agentClients.flatMap(({ ca, cert }) => [
      distrust(node.certificate('serving'), ca, now),
      distrust(cert, node.trusted, now),
    ]),
    ...etcd.flatMap(({ cert = '' }) => etcd.map(({ ca = '' }) => distrust(String(cert), String(ca), now))),
  ];
  for (day = 1; day <= DAYS; day++) {
    await clock.advance(DAY_MS);
    for (const server of servers) await server.settled();
    authorities.add(firstBlock(leading().authority));
    node.publish(leading().authority);
    await node.settled();
    // It is made anew each time.
    const agentClients = day % 20 > 0 ? [] : await Promise.all(servers.map(({ agentClient }) => agentClient()));
    const found = problems(clock.now(), agentClients).filter((each) => each !== undefined);
    if (found.length > 0) throw new Error(`day ${day}: ${found.join('; ')}`);
  }
  // Everything was replaced on the way: the authority of the first day is not trusted any more.
  expect(authorities.size).toBe(2);
  expect(blocksOf(node.trusted)).toHaveLength(1);
  expect(node.issued).toBeGreaterThan(2 * 10);
  expect(new Set(servers.map(({ pki }) => pki().serviceAccountKey)).size).toBe(1);
  for (const server of servers) expect(server.failures).toEqual([]);
  node.stop();
  await Promise.all(servers.map((server) => server.stop()));
});
