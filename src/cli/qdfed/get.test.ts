import { expect, it } from 'vitest';
import { createClient } from '../../client/client.ts';
import type { Cluster } from '../../kinds/groups/federation/cluster.ts';
import { rowOf } from './get.ts';

const cluster = { metadata: { name: 'west' }, status: { conditions: [{ type: 'Ready', status: 'True' }] } } as Cluster;

it('a member that is ready for the federation and is not reached from here says why', async () => {
  const transport = { call: () => Promise.reject(new Error()), watch: () => Promise.reject(new Error()) };
  const connection = { server: 'http://127.0.0.1:1' };
  const access = { context: 'west', connection, client: createClient(transport) };
  expect(await rowOf({ cluster, access })).toEqual([
    ...['west', 'Ready', '-', '-', '-', '<unknown>'],
    'the cluster of context "west" does not answer at http://127.0.0.1:1: cannot reach 127.0.0.1:1: the connection was refused (ECONNREFUSED)',
  ]);
});

it('a member whose credentials cannot be read says why', async () => {
  const problem = 'the secret federation-system/west has no kubeconfig';
  expect(await rowOf({ cluster, problem })).toEqual(['west', 'Ready', '-', '-', '-', '<unknown>', problem]);
});
