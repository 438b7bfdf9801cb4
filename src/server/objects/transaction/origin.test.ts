import { expect, it } from 'vitest';
import { testServer } from '../../../../test/support/server.ts';
import { ConfigMap } from '../../../kinds/groups/core/configuration/config-map.ts';
import { Namespace } from '../../../kinds/groups/core/namespace.ts';
import { Node } from '../../../kinds/groups/core/node/node.ts';
import type { Origin } from '../../../store/store.ts';

/** A server with the origins of all changes that clients make. */
async function recorded() {
  const api = await testServer([Namespace, Node, ConfigMap]);
  const origins: (Origin | undefined)[] = [];
  api.store.watch(await api.store.revision(), {
    changes: (batch) => void origins.push(...batch.map(({ origin }) => origin)),
    closed: () => undefined,
  });
  return { api, origins };
}

it('tells the store who writes, with which program and as which field manager', async () => {
  const { api, origins } = await recorded();
  const options = { fieldManager: 'tests' };
  const sent = { userAgent: `kubectl/v1 ${'x'.repeat(1000)}`, requestId: 'r1', options };
  await api.create('configmaps', { metadata: { name: 'a' } }, sent);
  await api.delete('configmaps', 'a', { user: { name: 'joe', groups: [] } });
  const client = sent.userAgent.slice(0, 256);
  expect(origins).toEqual([
    { user: 'tester', client, manager: 'tests', request: 'r1', isStatus: false },
    { user: 'joe', client: 'quarterdeck', manager: 'unknown', request: undefined, isStatus: false },
  ]);
});

it('marks commits of nothing but a status', async () => {
  const { api, origins } = await recorded();
  const cluster = { namespace: undefined } as const;
  await api.create('nodes', { metadata: { name: 'n' } }, cluster);
  const status = { conditions: [{ type: 'Ready', status: 'True' }] };
  await api.patch('nodes', 'n', { status }, { ...cluster, subresource: 'status' });
  await api.patch('nodes', 'n', { spec: { unschedulable: true } }, cluster);
  expect(origins.map((each) => each?.isStatus)).toEqual([false, true, false]);
});
