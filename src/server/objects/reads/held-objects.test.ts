/** Watches in this process receive objects as they were written, without parsing bytes. */
import { expect, it } from 'vitest';
import { testServer } from '../../../../test/support/server.ts';
import type { ObjectReply, WatchReply } from '../../../api/reply.ts';
import { ConfigMap } from '../../../kinds/groups/core/configuration/config-map.ts';
import { Namespace } from '../../../kinds/groups/core/namespace.ts';

const user = { name: 'tester', groups: ['system:masters'] };
const about = { apiVersion: 'v1', plural: 'configmaps', namespace: 'default', user } as const;

async function serverWithWatch(isInProcess: boolean) {
  const { server } = await testServer([ConfigMap, Namespace]);
  const watch = (await server.handle({ ...about, verb: 'watch' })) as WatchReply;
  const events: { readonly type: string; readonly object: unknown }[] = [];
  watch.attach({
    events: (batch) => events.push(...batch.events),
    backlog: () => 0,
    end: () => {},
    onProgress: isInProcess ? undefined : () => {},
  });
  const handle = async (call: object) => ((await server.handle({ ...about, ...call } as never)) as ObjectReply).item;
  return { events, handle };
}

it('gives a watch the created object, and keeps it for the next write', async () => {
  const { events, handle } = await serverWithWatch(true);
  const created = await handle({ verb: 'create', body: { metadata: { name: 'a' } } });
  expect(events.map(({ type }) => type)).toEqual(['ADDED']);
  expect(events[0]!.object).toBe(created.object);
  expect((await handle({ verb: 'get', name: 'a' })).object).toBe(created.object);
});

it('gives a late reader of a watch every object as it was', async () => {
  const { events, handle } = await serverWithWatch(true);
  const written = [await handle({ verb: 'create', body: { metadata: { name: 'a' } } })];
  for (const value of ['1', '2']) {
    written.push(await handle({ verb: 'patch', patchType: 'merge', name: 'a', body: { data: { value } } }));
  }
  expect(events.map(({ object }) => object)).toEqual(written.map(({ object }) => object));
  for (const [index, { object }] of events.entries()) expect(object).toBe(written[index]!.object);
});

it('keeps only the bytes of an object that is sent to a watch over a network', async () => {
  const { handle } = await serverWithWatch(false);
  const created = await handle({ verb: 'create', body: { metadata: { name: 'a' } } });
  const read = await handle({ verb: 'get', name: 'a' });
  expect(read.object).not.toBe(created.object);
  expect(read.object).toEqual(created.object);
});
