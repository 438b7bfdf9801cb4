/** Other work runs while a long list, or one of large objects, is converted to another form. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { type TestServer, testServer } from '../../../../test/support/server.ts';
import type { ListReply, Reply } from '../../../api/reply.ts';
import { ControlledClock } from '../../../base/time/clock.ts';
import { CronJob } from '../../../kinds/groups/batch/cron-job.ts';
import { ConfigMap } from '../../../kinds/groups/core/configuration/config-map.ts';
import { Namespace } from '../../../kinds/groups/core/namespace.ts';
import type { ObjectForm } from './forms.ts';
import { shapeReply } from './reply.ts';
import { withoutManagers } from './without-managers.ts';

const LARGE_BYTES = 300_000;
const COUNT = 6;

/** A clock on which work takes no time, until `msPerLook` is set. */
function clockOf(): ControlledClock & { msPerLook: number } {
  let now = 0;
  const clock = Object.assign(new ControlledClock(), { msPerLook: 0 });
  return Object.assign(clock, { monotonic: () => (now += clock.msPerLook) });
}

async function turnsOf(work: Promise<unknown> | unknown): Promise<number> {
  let turns = 1;
  let isDone = false;
  const finished = Promise.resolve(work).finally(() => {
    isDone = true;
  });
  for (; !isDone; turns++) await nextTurn();
  await finished;
  return turns;
}

const form = (kind: ObjectForm['kind']): ObjectForm => ({ kind, group: 'meta.k8s.io', version: 'v1' });

function shaped(api: TestServer, list: ListReply, kind: ObjectForm['kind']): Reply | Promise<Reply> {
  const resource = api.server.registry.resource('v1', 'configmaps')!;
  return shapeReply(list, { form: form(kind), include: 'Object', resource, now: () => 0 });
}

const ways: [string, (api: TestServer, list: ListReply) => unknown][] = [
  ['a table', (api, list) => shaped(api, list, 'Table')],
  ['metadata', (api, list) => shaped(api, list, 'PartialObjectMetadataList')],
  ['objects without managers', (_, list) => withoutManagers(list)],
];

it.each(ways)('converts large objects to %s in many turns', async (_, shape) => {
  const clock = clockOf();
  const api = await testServer([Namespace, ConfigMap], { clock });
  for (let index = 0; index < COUNT; index++) {
    await api.create('configmaps', { metadata: { name: `c${index}` }, data: { text: 'x'.repeat(LARGE_BYTES) } });
  }
  const list = await api.list('configmaps');
  clock.msPerLook = 1_000;
  expect(await turnsOf(shape(api, list))).toBeGreaterThan(COUNT);
  expect(list.items).toHaveLength(COUNT);
});

it('converts a few small objects to a table at once', async () => {
  const clock = clockOf();
  const api = await testServer([Namespace, ConfigMap], { clock });
  for (let index = 0; index < COUNT; index++) await api.create('configmaps', { metadata: { name: `c${index}` } });
  const list = await api.list('configmaps');
  clock.msPerLook = 1_000;
  expect(shaped(api, list, 'Table')).not.toBeInstanceOf(Promise);
});

it('converts and encodes a list of large objects in another version in many turns', async () => {
  const clock = clockOf();
  const api = await testServer([Namespace, CronJob], { clock });
  const env = Array.from({ length: 5_000 }, (_, index) => ({ name: `V${index}`, value: 'x'.repeat(50) }));
  const template = { spec: { restartPolicy: 'Never', containers: [{ name: 'c', image: 'i', env }] } };
  for (let index = 0; index < COUNT; index++) {
    const spec = { schedule: '* * * * *', jobTemplate: { spec: { template } } };
    await api.create('cronjobs', { metadata: { name: `c${index}` }, spec }, { apiVersion: 'batch/v1' });
  }
  clock.msPerLook = 1_000;
  const listing = api.list('cronjobs', { apiVersion: 'batch/v1beta1', options: { limit: 100 } });
  expect(await turnsOf(listing)).toBeGreaterThan(COUNT);
  const list = await listing;
  expect(await turnsOf(list.encode())).toBeGreaterThan(COUNT);
  expect(JSON.parse(list.json().toString()).items).toHaveLength(COUNT);
});
