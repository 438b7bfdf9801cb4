import { cp } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';
import { testServer } from '../../../test/support/server.ts';
import { temporaryDirectory } from '../../../test/support/temporary-directory.ts';
import { silent } from '../../base/log.ts';
import { systemRandom } from '../../base/random.ts';
import { ControlledClock } from '../../base/time/clock.ts';
import { type Client, createClient } from '../../client/client.ts';
import { nodeUser } from '../../client/component-users.ts';
import { directTransport } from '../../client/transport/direct-transport.ts';
import { allKinds } from '../../kinds/all.ts';
import { Node } from '../../kinds/groups/core/node/node.ts';
import { DEFAULT_NODE_CONFIG } from './node-config.ts';
import { OWNER_ANNOTATION } from './node-owner.ts';
import type { NodeOptions } from './options.ts';
import { startNode } from './start-node.ts';

const NAME = 'machine-1';

let directory: string;
let client: Client;
let clock: ControlledClock;
beforeEach(async () => {
  directory = temporaryDirectory();
  clock = new ControlledClock();
  const { server } = await testServer(allKinds, { clock });
  client = createClient(directTransport(server.direct(nodeUser(NAME))));
});

/** Starts the node on a machine, and stops it before its runtime may be opened: the node stays Ready for a while. */
async function start(machine: string, options: Partial<NodeOptions> = {}): Promise<void> {
  const node = await startNode({
    ...{ client, clock, random: systemRandom, log: silent, name: NAME, dataDirectory: join(directory, machine) },
    ...{ runtime: 'process', endpoint: undefined, addresses: ['192.0.2.1'], podCIDR: '10.0.0.0/24' },
    ...{ clusterDomain: 'cluster.local', clusterDns: () => [], apiServer: { host: '192.0.2.1', port: 443 } },
    ...{ openAfter: new Promise(() => {}), version: 'v1.36.4', path: '', hidden: async () => [] },
    ...{ canBeElsewhere: true, config: DEFAULT_NODE_CONFIG },
    ...options,
  });
  await node.stop();
}

const setReady = (status: string) =>
  client.of(Node).patchStatus(NAME, {
    type: 'strategic',
    changes: { status: { conditions: [{ type: 'Ready', status }] } },
  });

test('a node that another machine runs is not taken over', async () => {
  await start('a');
  const before = await client.of(Node).get(NAME);
  await expect(start('b')).rejects.toThrow(
    'another machine (192.0.2.1) runs the node "machine-1": choose another --node-name.',
  );
  expect(await client.of(Node).get(NAME)).toEqual(before);
});

test('the machine that has run a node runs it again', async () => {
  await start('a');
  await expect(start('a')).resolves.toBeUndefined();
});

test('a node that is silent, and one that was deleted, can be run by another machine', async () => {
  await start('a');
  const owner = async () => (await client.of(Node).get(NAME)).metadata.annotations?.[OWNER_ANNOTATION];
  const former = await owner();
  await setReady('Unknown');
  await start('b');
  expect(await owner()).not.toBe(former);
  await setReady('True');
  await expect(start('a')).rejects.toThrow('kubectl delete node machine-1');
});

test('a copy of a data directory is another machine', async () => {
  await start('a');
  await cp(join(directory, 'a'), join(directory, 'copy'), { recursive: true });
  await expect(start('copy')).rejects.toThrow('another machine');
});

test('a node whose names nobody else can have is not asked for its owner', async () => {
  await start('a');
  await expect(start('b', { canBeElsewhere: false })).resolves.toBeUndefined();
});
