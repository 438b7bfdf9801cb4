/** Other work runs between the stages of a write, each of which may take long when the object is large. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { type TestServer, testServer } from '../../../../test/support/server.ts';
import { ControlledClock } from '../../../base/time/clock.ts';
import { ConfigMap } from '../../../kinds/groups/core/configuration/config-map.ts';
import { Namespace } from '../../../kinds/groups/core/namespace.ts';
import { NetworkPolicy } from '../../../kinds/groups/networking/network-policy.ts';

/** A clock on which work takes no time, until `msPerLook` is set. */
function clockOf(): ControlledClock & { msPerLook: number } {
  let now = 0;
  const clock = Object.assign(new ControlledClock(), { msPerLook: 0 });
  return Object.assign(clock, { monotonic: () => (now += clock.msPerLook) });
}

/** Returns the number of turns of the event loop that the work takes. */
async function turnsOf(work: Promise<unknown>): Promise<number> {
  let turns = 1;
  let isDone = false;
  const finished = work.finally(() => {
    isDone = true;
  });
  for (; !isDone; turns++) await nextTurn();
  await finished;
  return turns;
}

const writes: [string, (api: TestServer) => Promise<unknown>][] = [
  ['create', (api) => api.create('configmaps', { metadata: { name: 'new' } })],
  ['update', (api) => api.update('configmaps', { metadata: { name: 'old' }, data: { a: 'b' } })],
  ['patch', (api) => api.patch('configmaps', 'old', { data: { a: 'b' } })],
];

it.each(writes)('a %s pauses between its stages when they take long', async (_, write) => {
  const turnsAt = async (msPerLook: number) => {
    const clock = clockOf();
    const api = await testServer([Namespace, ConfigMap], { clock });
    await api.create('configmaps', { metadata: { name: 'old' } });
    clock.msPerLook = msPerLook;
    return turnsOf(write(api));
  };
  const atOnce = await turnsAt(0);
  // Pauses before drafting, before finishing, before the warnings and before the commit.
  expect(await turnsAt(1_000)).toBeGreaterThanOrEqual(atOnce + 4);
});

it('a large object pauses once more, after it was encoded', async () => {
  const turnsOfSize = async (bytes: number) => {
    const clock = clockOf();
    const api = await testServer([Namespace, ConfigMap], { clock });
    clock.msPerLook = 1_000;
    return turnsOf(api.create('configmaps', { metadata: { name: 'new' }, data: { text: 'x'.repeat(bytes) } }));
  };
  expect(await turnsOfSize(500_000)).toBeGreaterThan(await turnsOfSize(5_000));
});

it('a long JSON patch pauses between its operations', async () => {
  const clock = clockOf();
  const api = await testServer([Namespace, ConfigMap], { clock });
  await api.create('configmaps', { metadata: { name: 'old' }, data: { a: 'b' } });
  const copies = Array.from({ length: 1_000 }, (_, i) => ({ op: 'copy', from: '/data/a', path: `/data/c${i}` }));
  clock.msPerLook = 1_000;
  expect(await turnsOf(api.patch('configmaps', 'old', copies, { patchType: 'json' }))).toBeGreaterThan(50);
});

it('the validation of a large object pauses between the items of its lists', async () => {
  const clock = clockOf();
  const api = await testServer([Namespace, NetworkPolicy], { clock });
  clock.msPerLook = 1_000;
  const from = Array.from({ length: 1_000 }, (_, i) => ({ ipBlock: { cidr: `10.0.${i >> 8}.${i & 255}/32` } }));
  const policy = { metadata: { name: 'p' }, spec: { podSelector: {}, ingress: [{ from }] } };
  const networking = { apiVersion: 'networking.k8s.io/v1' };
  expect(await turnsOf(api.create('networkpolicies', policy, networking))).toBeGreaterThan(900);
});

it('the writes of one turn share its time', async () => {
  const clock = clockOf();
  const api = await testServer([Namespace, ConfigMap], { clock });
  clock.msPerLook = 1;
  const create = (_: unknown, i: number) => api.create('configmaps', { metadata: { name: `new-${i}` } });
  // Each write reads the clock four times, and a turn has 25 ms.
  expect(await turnsOf(Promise.all(Array.from({ length: 100 }, create)))).toBeGreaterThan(100 / 25);
});

it('a change during a pause is not lost', async () => {
  const clock = clockOf();
  const api = await testServer([Namespace, ConfigMap], { clock });
  await api.create('configmaps', { metadata: { name: 'old' } });
  clock.msPerLook = 1_000;
  const slow = api.patch('configmaps', 'old', { data: { a: 'slow' } });
  await nextTurn();
  clock.msPerLook = 0;
  await api.patch('configmaps', 'old', { data: { b: 'meanwhile' } });
  await slow;
  expect((await api.get('configmaps', 'old')).data).toEqual({ a: 'slow', b: 'meanwhile' });
});
