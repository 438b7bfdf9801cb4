import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Cluster, startCluster } from '../../../test/support/cluster/cluster.ts';
import { silent } from '../../base/log.ts';
import { systemRandom } from '../../base/random.ts';
import { Lease } from '../../kinds/groups/coordination/lease.ts';
import { elected } from './elected.ts';

let cluster: Cluster;
beforeAll(async () => {
  cluster = await startCluster();
});
afterAll(() => cluster.stop());

/** A manager that says whether it leads, until it is stopped. */
function manager(identity: string, leaderElect = true) {
  const stop = new AbortController();
  const state = { leads: false };
  const { client: host, clock } = cluster;
  const options = { leaderElect, host, clock, random: systemRandom, log: silent, namespace: 'default', identity };
  const ended = elected({ ...options, signal: stop.signal }, async (signal) => {
    state.leads = true;
    await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
    state.leads = false;
  });
  return {
    state,
    stop: async () => {
      stop.abort();
      await ended;
    },
  };
}

it('one of two managers runs the controllers; the other takes over when it stops', async () => {
  const first = manager('a');
  await cluster.eventually(async () => first.state.leads);
  const second = manager('b');
  await cluster.clock.advance(60_000);
  expect([first.state.leads, second.state.leads]).toEqual([true, false]);
  const { spec } = await cluster.client.of(Lease).in('default').get('federation-controller-manager');
  expect(spec.holderIdentity).toBe('a');
  await first.stop();
  await cluster.eventually(async () => second.state.leads);
  await second.stop();
});

it('without an election, it runs them at once', async () => {
  const alone = manager('c', false);
  expect(alone.state.leads).toBe(true);
  await alone.stop();
});
