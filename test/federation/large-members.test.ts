/** Limits the memory for a member in the federation; a member that exceeds it is not ready. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Client } from '../../src/client/client.ts';
import { ConfigMap } from '../../src/kinds/groups/core/configuration/config-map.ts';
import { Secret } from '../../src/kinds/groups/core/configuration/secret.ts';
import { Cluster } from '../../src/kinds/groups/federation/cluster.ts';
import { startFederation, type TestFederation } from '../support/federation/federation.ts';

const MAX_CACHE_BYTES = 2 * 1024 * 1024;

let federation: TestFederation;
let east: Client;
let west: Client;

beforeAll(async () => {
  federation = await startFederation(['east', 'west'], { maxCacheBytes: MAX_CACHE_BYTES });
  [east, west] = ['east', 'west'].map((name) => federation.members.get(name)!.client) as [Client, Client];
  await federation.eventually(() => isReady('west'));
});
afterAll(() => federation.stop());

async function readyCondition(name: string) {
  const { status } = await federation.client.of(Cluster).get(name);
  return status.conditions?.find(({ type }) => type === 'Ready');
}

const isReady = async (name: string) => (await readyCondition(name))?.status === 'True';

async function fill(client: Client, { maps = 0, secrets = 0 }: { maps?: number; secrets?: number }): Promise<void> {
  const data = { text: 'a'.repeat(300_000) };
  const metadata = (i: number) => ({ name: `large-${i}`, namespace: 'default' });
  for (let i = 0; i < maps; i++) await client.of(ConfigMap).create({ metadata: metadata(i), data });
  for (let i = 0; i < secrets; i++) await client.of(Secret).create({ metadata: metadata(i), data });
}

async function empty(client: Client): Promise<void> {
  await client.of(ConfigMap).in('default').deleteCollection();
  await client.of(Secret).in('default').deleteCollection();
}

const propagated = async (client: Client, name: string) =>
  (await client.of(ConfigMap).in('x').list()).items.some(({ metadata }) => metadata.name === name);

const create = (name: string) => federation.client.of(ConfigMap).create({ metadata: { name, namespace: 'x' } });

it('a member that sends more and more objects is not ready until they are gone; others go on', async () => {
  await fill(west, { maps: 9 });
  await federation.eventually(async () => !(await isReady('west')));
  expect(await readyCondition('west')).toMatchObject({
    ...{ reason: 'ClusterTooLarge', message: 'the objects of the cluster take more than 2 MiB of memory' },
  });
  expect(await isReady('east')).toBe(true);
  await create('during');
  await federation.eventually(() => propagated(east, 'during'));
  expect(await propagated(west, 'during')).toBe(false);
  await federation.clock.advance(10_000);
  expect(await isReady('west')).toBe(false);
  await empty(west);
  await federation.eventually(() => isReady('west'));
  await federation.eventually(() => propagated(west, 'during'));
});

it('kinds count together, in lists as in watches', async () => {
  await fill(west, { maps: 4, secrets: 4 });
  await federation.eventually(async () => !(await isReady('west')));
  await federation.restart();
  await federation.eventually(async () => (await readyCondition('west'))?.reason === 'ClusterTooLarge');
  await create('after');
  await federation.eventually(() => propagated(east, 'after'));
  await empty(west);
  await federation.eventually(() => isReady('west'));
  await federation.eventually(() => propagated(west, 'after'));
});
