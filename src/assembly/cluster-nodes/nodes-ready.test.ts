import { beforeEach, expect, test } from 'vitest';
import { testServer } from '../../../test/support/server.ts';
import { ControlledClock } from '../../base/time/clock.ts';
import { type Client, createClient } from '../../client/client.ts';
import { SIMULATED_NODES } from '../../client/component-users.ts';
import { directTransport } from '../../client/transport/direct-transport.ts';
import { allKinds } from '../../kinds/all.ts';
import { Node } from '../../kinds/groups/core/node/node.ts';
import { untilNodesReady } from './nodes-ready.ts';

const TIMEOUT_MS = 60_000;
const OPEN = Promise.resolve();
const STARTING = new Promise<void>(() => {});

let client: Client;
let clock: ControlledClock;
let stop: AbortController;
beforeEach(async () => {
  const { server } = await testServer(allKinds);
  client = createClient(directTransport(server.direct(SIMULATED_NODES)));
  clock = new ControlledClock();
  stop = new AbortController();
});

const report = async (name: string, status: 'True' | 'False', message = '') => {
  const condition = { type: 'Ready', status, reason: 'Kubelet', message };
  await client.of(Node).patchStatus(name, { type: 'merge', changes: { status: { conditions: [condition] } } });
};
const wait = (nodes: Readonly<Record<string, Promise<void>>>) =>
  untilNodesReady(
    Object.entries(nodes).map(([name, ready]) => ({ name, client, ready })),
    { clock, timeoutMs: TIMEOUT_MS, signal: stop.signal },
  );

test('waits for the runtime of each node, and until clients see the node as ready', async () => {
  for (const name of ['a', 'b']) await client.of(Node).create({ metadata: { name } });
  await report('a', 'True');
  let open!: () => void;
  let isDone = false;
  const opening = new Promise<void>((resolve) => {
    open = resolve;
  });
  const waiting = wait({ a: opening, b: OPEN }).finally(() => {
    isDone = true;
  });
  await report('b', 'False', 'starting');
  await report('b', 'True');
  expect(isDone).toBe(false);
  open();
  expect(await waiting).toEqual([]);
});

test('after the time limit, names the nodes that are not ready, with the reason that they report', async () => {
  for (const name of ['a', 'b', 'c']) await client.of(Node).create({ metadata: { name } });
  await report('a', 'True');
  await report('b', 'False', 'container runtime is down: no space');
  await report('c', 'True');
  const waiting = wait({ a: OPEN, b: OPEN, c: STARTING });
  await clock.advance(TIMEOUT_MS);
  expect(await waiting).toEqual([
    { name: 'b', reason: 'container runtime is down: no space' },
    { name: 'c', reason: 'its runtime is starting' },
  ]);
});

test('ends when the program is asked to stop', async () => {
  const waiting = wait({ a: STARTING });
  stop.abort(new Error('stopped by SIGTERM'));
  await expect(waiting).rejects.toThrow('stopped by SIGTERM');
});
