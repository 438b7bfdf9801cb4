/** An object that stops matching a watch is shown with its last matching content, and the version of the change. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type TestServer, testServer } from '../../../../test/support/server.ts';
import { backendMissing, startBackend } from '../../../../test/support/store/backends.ts';
import { temporaryDirectory } from '../../../../test/support/temporary-directory.ts';
import type { WatchEvent, WatchReply } from '../../../api/reply.ts';
import { ControlledClock, systemClock } from '../../../base/time/clock.ts';
import { allKinds } from '../../../kinds/all.ts';
import { storeDrivers } from '../../../store/drivers.ts';
import type { Store } from '../../../store/store.ts';
import { objectForms } from '../../serving/representations/forms.ts';
import { shapeWatch } from '../../serving/representations/reply.ts';

const HUB = { apiVersion: 'apps/v1' };
const OLD = { apiVersion: 'extensions/v1beta1' };

const replicaSet = {
  metadata: { name: 'web', labels: { tier: 'front' } },
  spec: {
    replicas: 1,
    selector: { matchLabels: { app: 'web' } },
    template: { metadata: { labels: { app: 'web' } }, spec: { containers: [{ name: 'main', image: 'nginx' }] } },
  },
};

/** Selectors, each with a write that ends the match. */
const cases = [
  {
    title: 'a label selector',
    options: { labelSelector: 'tier=front' },
    body: { metadata: { labels: { tier: 'back' } }, spec: { replicas: 3 } },
  },
  {
    title: 'several requirements',
    options: { labelSelector: 'tier in (front,middle)', fieldSelector: 'metadata.name=web' },
    body: { metadata: { labels: null }, spec: { replicas: 3 } },
  },
  {
    title: 'a field selector',
    options: { fieldSelector: 'status.replicas=0' },
    body: { status: { replicas: 7 } },
    subresource: 'status',
  },
  {
    title: 'nothing but the end of the object',
    options: {},
    body: undefined,
  },
];

describe.each(storeDrivers)('on the $name store', (driver) => {
  const missing = backendMissing(driver.name);
  let api: TestServer;
  let store: Store;
  let close: () => Promise<void>;

  beforeEach(async () => {
    if (missing) return;
    const backend = await startBackend(driver.name);
    const directory = temporaryDirectory();
    store = await driver.open(backend.settings, { directory, clock: systemClock });
    api = await testServer(allKinds, { store });
    close = async () => {
      api.server.close();
      await store.close();
      await backend.remove();
    };
  });
  afterEach(() => (missing ? undefined : close()));

  describe.each(cases)('a watch with $title', ({ options, body, subresource }) => {
    it.skipIf(missing)('shows the previous content with the new version, live and from history', async () => {
      const before = await api.create('replicasets', replicaSet, HUB);
      const { resourceVersion } = before.metadata;
      const older = await api.get('replicasets', 'web', OLD);
      const at = (asked: object, more: object = {}) => ({ ...asked, options: { ...options, ...more } });
      const watches = [
        await api.watch('replicasets', at(HUB, { resourceVersion })),
        await api.watch('replicasets', at(HUB)),
        await api.watch('replicasets', at(HUB)),
        await api.watch('replicasets', at(OLD, { resourceVersion })),
      ];
      if (body) await api.patch('replicasets', 'web', body, { ...HUB, ...(subresource ? { subresource } : {}) });
      else await api.delete('replicasets', 'web', HUB);
      const revision = String(await store.revision());
      watches.push(await api.watch('replicasets', at(HUB, { resourceVersion })));
      watches.push(await api.watch('replicasets', at(OLD, { resourceVersion })));
      // Another server reads the history from the store.
      const other = await testServer(allKinds, { store, clock: new ControlledClock() });
      watches.push(await other.watch('replicasets', at(HUB, { resourceVersion })));
      for (const watch of watches) {
        const [first, second] = await watch.next();
        const event = first?.type === 'DELETED' ? first : (second ?? (await watch.next())[0]);
        const { apiVersion } = event!.object as { apiVersion: string };
        const shown = apiVersion === HUB.apiVersion ? before : older;
        const metadata = { ...shown.metadata, resourceVersion: revision };
        expect({ type: event!.type, object: event!.object }).toEqual({
          type: 'DELETED',
          object: { ...shown, metadata },
        });
        expect(JSON.parse(event!.json().toString()).object).toEqual({ ...shown, metadata });
      }
      other.server.close();
    });
  });
});

it.each(objectForms.filter(({ kind }) => kind !== 'PartialObjectMetadataList'))(
  'in every form shows it as $kind of $version',
  async (form) => {
    const api = await testServer(allKinds);
    await api.create('replicasets', replicaSet, HUB);
    const resource = api.server.registry.resource(HUB.apiVersion, 'replicasets')!;
    const call = { verb: 'watch', plural: 'replicasets', namespace: 'default', user: USER, ...HUB } as const;
    const options = { labelSelector: 'tier=front' };
    const plain = (await api.server.handle({ ...call, options })) as WatchReply;
    const shaping = { form, include: 'Object', resource, now: () => api.clock.now() } as const;
    const events = firstEvents(shapeWatch(plain, shaping), 2);
    const body = { metadata: { labels: { tier: 'back' } }, spec: { replicas: 3 } };
    const after = await api.patch('replicasets', 'web', body, HUB);
    const object = (await events)[1]?.object as any;
    const shown = object.rows?.[0].object ?? object;
    expect(shown.metadata).toMatchObject({
      labels: { tier: 'front' },
      resourceVersion: after.metadata.resourceVersion,
    });
    if (form.kind !== 'Table') return;
    expect(object.rows[0].cells.slice(0, 2)).toEqual(['web', 1]);
    expect(object.metadata).toEqual({ resourceVersion: after.metadata.resourceVersion });
  },
);

const USER = { name: 'tester', groups: ['system:masters'] };

function firstEvents(watch: WatchReply, count: number): Promise<WatchEvent[]> {
  return new Promise((resolve) => {
    const events: WatchEvent[] = [];
    watch.attach({
      events(batch) {
        events.push(...batch.events);
        if (events.length >= count) resolve(events);
      },
      backlog: () => 0,
      end() {},
    });
  });
}
