import { beforeEach, expect, test } from 'vitest';
import { testServer } from '../../../test/support/server.ts';
import { temporaryDirectory } from '../../../test/support/temporary-directory.ts';
import { type Logger, silent } from '../../base/log.ts';
import { systemRandom } from '../../base/random.ts';
import { ControlledClock } from '../../base/time/clock.ts';
import { createClient } from '../../client/client.ts';
import { nodeUser } from '../../client/component-users.ts';
import { directTransport } from '../../client/transport/direct-transport.ts';
import { allKinds } from '../../kinds/all.ts';
import { DEFAULT_NODE_CONFIG } from './node-config.ts';
import { nodeDirectory, writeNodeFile } from './node-file.ts';
import type { NodeOptions, RulesOwner } from './options.ts';
import { startNode } from './start-node.ts';

const NAME = 'node-1';
const NAMESPACE = '/run/netns/qd1';

let dataDirectory: string;
beforeEach(() => {
  dataDirectory = temporaryDirectory();
});

/** Starts a node whose runtime may not be opened yet. */
async function start(options: Partial<NodeOptions>, clock = new ControlledClock()) {
  const { server } = await testServer(allKinds, { clock });
  return startNode({
    client: createClient(directTransport(server.direct(nodeUser(NAME)))),
    ...{
      clock,
      random: systemRandom,
      log: silent,
      name: NAME,
      canBeElsewhere: false,
      dataDirectory,
      config: DEFAULT_NODE_CONFIG,
    },
    ...{ runtime: 'process', endpoint: undefined, addresses: ['192.0.2.1'], podCIDR: '10.0.0.0/24' },
    ...{ clusterDomain: 'cluster.local', clusterDns: () => [], apiServer: { host: '192.0.2.1', port: 443 } },
    ...{ openAfter: new Promise(() => {}), version: 'v1.36.4', path: '', hidden: async () => [] },
    startServices: () => Promise.reject(new Error('the runtime is not open')),
    ...options,
  });
}

/** Stops the node before its runtime may be opened. Returns whose rules were removed. */
async function stopEarly(): Promise<RulesOwner[]> {
  const removed: RulesOwner[] = [];
  const node = await start({ removeRules: async (owner) => void removed.push(owner) });
  await node.stop();
  return removed;
}

test('a node that is stopped before it has taken over its rules removes those that a killed process left', async () => {
  const registries = { mirrors: {}, insecure: [] };
  await writeNodeFile(await nodeDirectory(dataDirectory, NAME), {
    ...{ runtime: 'process', endpoint: undefined, name: 'qd1', podCIDRs: ['10.0.0.0/24'], registries },
    networkNamespace: NAMESPACE,
  });
  expect(await stopEarly()).toEqual([{ name: NAME, shortName: 'qd1', networkNamespace: NAMESPACE }]);
});

test('a node that has never run has no rules to remove', async () => {
  expect(await stopEarly()).toEqual([]);
});

test('a node that waits for its range of addresses says so once', async () => {
  const clock = new ControlledClock();
  const warnings: unknown[] = [];
  const log: Logger = { ...silent, with: () => log, warn: (message, fields) => void warnings.push([message, fields]) };
  const node = await start({ openAfter: Promise.resolve(), podCIDR: undefined, log }, clock);
  await clock.advance(20_000);
  await node.stop();
  const error = 'Error: the node has no range of pod addresses yet';
  expect(warnings).toEqual([['the runtime cannot be used yet', { error }]]);
});
