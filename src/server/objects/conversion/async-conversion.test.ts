/** A kind whose versions are converted asynchronously, as by a webhook. */
import { beforeEach, describe, expect, it } from 'vitest';
import { type TestServer, testServer } from '../../../../test/support/server.ts';
import { ApiError } from '../../../api/errors.ts';
import type { ListReply, WatchEvent } from '../../../api/reply.ts';
import { clone } from '../../../base/json/tree.ts';
import { name } from '../../../kinds/columns/column.ts';
import { Namespace } from '../../../kinds/groups/core/namespace.ts';
import { defineKind, type KubeObject, type Version } from '../../../kinds/kind.ts';
import { s } from '../../../schema/builders.ts';
import { shapeReply } from '../../serving/representations/reply.ts';

const HUB = 'example.com/v2';
const OLD = 'example.com/v1';
const AT_HUB = { apiVersion: HUB };
const AT_OLD = { apiVersion: OLD };
const KEY = '/registry/example.com/boats/default/';

type Boat = KubeObject & { spec: { size?: number; berths?: number } };

/** Converts when the test says so, or at once. */
class FakeWebhook {
  /** The number of objects and the target version of each call. */
  readonly calls: string[] = [];
  #held: (() => void)[] | undefined;
  failure: Error | undefined;

  async convert(objects: readonly KubeObject[], { apiVersion }: Version): Promise<KubeObject[]> {
    this.calls.push(`${objects.length} to ${apiVersion}`);
    await new Promise<void>((resolve) => {
      if (this.#held) this.#held.push(resolve);
      else queueMicrotask(resolve);
    });
    if (this.failure) throw this.failure;
    return (objects as Boat[]).map((object) => {
      const { berths, size } = object.spec;
      return { ...clone(object), spec: apiVersion === HUB ? { berths: size } : { size: berths } } as KubeObject;
    });
  }

  hold(): void {
    this.#held ??= [];
  }

  /** Answers pending calls, the last one first, and all later ones at once. */
  release(): void {
    const held = this.#held ?? [];
    this.#held = undefined;
    for (const resolve of held.reverse()) resolve();
  }
}

let webhook: FakeWebhook;
let api: TestServer;

function boats() {
  return defineKind({
    kind: 'Boat',
    scope: 'Namespaced',
    description: '',
    versions: { [HUB]: {}, [OLD]: { fields: { spec: s.object('BoatSpec', { size: s.int32({ default: 1 }) }) } } },
    fields: {
      spec: s.object('BoatSpec', { berths: s.int32({ default: 2 }) }),
      status: s.object('BoatStatus', { afloat: s.boolean() }),
    },
    selectable: { 'spec.berths': ({ spec }) => String(spec?.berths) },
    columns: ({ integer }) => [name, integer('Berths', '', ({ spec }) => spec?.berths)],
    subresources: { status: true },
    conversion: webhook,
  });
}

const putOld = (each: string, size: number, revision?: number) => {
  const text = `{"kind":"Boat","apiVersion":"${OLD}","metadata":{"name":"${each}","namespace":"default","labels":{"size":"${size}"}},"spec":{"size":${size}}}`;
  return api.store.commit([{ key: KEY + each, value: Buffer.from(text), ...(revision ? { expect: revision } : {}) }]);
};

const settled = () => new Promise<void>((resolve) => setImmediate(resolve));
const told = (events: readonly WatchEvent[]) =>
  events.map(({ type, object }) => `${type} ${(object as Boat).metadata.name} ${(object as Boat).spec?.size}`);

/** Returns the cells of every row, and the size of its object. */
function tableOf(list: ListReply): unknown[] {
  const form = { kind: 'Table', group: 'meta.k8s.io', version: 'v1' } as const;
  const resource = api.server.registry.resource(OLD, 'boats')!;
  const reply = shapeReply(list, { form, include: 'Object', resource, now: () => 0 });
  const { rows } = JSON.parse((reply as any).item.json().toString());
  return rows.map(({ cells, object }: any) => [...cells, object.spec.size]);
}

beforeEach(async () => {
  webhook = new FakeWebhook();
  api = await testServer([Namespace, boats()]);
});

describe('reads', () => {
  beforeEach(async () => {
    for (const each of ['a', 'b', 'c']) {
      await api.create('boats', { metadata: { name: each, labels: { each } }, spec: { berths: 3 } }, AT_HUB);
    }
    webhook.calls.length = 0;
  });

  it('get an object in another version, and convert it once', async () => {
    expect(await api.get('boats', 'a', AT_OLD)).toMatchObject({ apiVersion: OLD, spec: { size: 3 } });
    const got = await api.get('boats', 'a', AT_OLD);
    expect(got.metadata).toMatchObject({ selfLink: `/apis/${OLD}/namespaces/default/boats/a`, name: 'a' });
    expect(webhook.calls).toEqual([`1 to ${OLD}`]);
  });

  it('convert nothing for the stored version', async () => {
    expect((await api.get('boats', 'a', AT_HUB)).spec).toEqual({ berths: 3 });
    await api.list('boats', AT_HUB);
    expect(webhook.calls).toEqual([]);
  });

  it('convert a list in one call, and only the objects of the page', async () => {
    const list = await api.list('boats', AT_OLD);
    expect(JSON.parse(list.json().toString()).items.map(({ spec }: Boat) => spec)).toEqual([
      { size: 3 },
      { size: 3 },
      { size: 3 },
    ]);
    expect(webhook.calls).toEqual([`3 to ${OLD}`]);
    await api.list('boats', AT_OLD);
    expect(webhook.calls).toHaveLength(1);
  });

  it('convert only the objects that match a selector or fit a limit', async () => {
    await api.list('boats', { ...AT_OLD, options: { labelSelector: 'each=b' } });
    const page = await api.list('boats', { ...AT_OLD, options: { limit: 1 } });
    expect(page.metadata.continue).toBeDefined();
    expect(webhook.calls).toEqual([`1 to ${OLD}`, `1 to ${OLD}`]);
  });

  it('show the state of one revision, whatever is written during the conversion', async () => {
    webhook.hold();
    const listing = api.list('boats', AT_OLD);
    await settled();
    await api.patch('boats', 'a', { spec: { berths: 9 } }, AT_HUB);
    await api.delete('boats', 'b', AT_HUB);
    webhook.release();
    const list = await listing;
    const items: Boat[] = JSON.parse(list.json().toString()).items;
    expect(items.map(({ metadata, spec }) => [metadata.name, spec.size])).toEqual([
      ['a', 3],
      ['b', 3],
      ['c', 3],
    ]);
    for (const { metadata } of items) {
      expect(Number(metadata.resourceVersion)).toBeLessThanOrEqual(Number(list.metadata.resourceVersion));
    }
  });

  it('show a table', async () => {
    expect(tableOf(await api.list('boats', AT_OLD))).toEqual([
      ['a', 3, 3],
      ['b', 3, 3],
      ['c', 3, 3],
    ]);
  });

  it('fail when the conversion fails', async () => {
    webhook.failure = new ApiError('InternalError', 'conversion webhook for boats failed');
    await expect(api.get('boats', 'a', AT_OLD)).rejects.toThrow('conversion webhook for boats failed');
    await expect(api.list('boats', AT_OLD)).rejects.toThrow('conversion webhook for boats failed');
    expect((await api.get('boats', 'a', AT_HUB)).spec).toEqual({ berths: 3 });
  });
});

it('objects stored in another version are converted before they are selected or shown', async () => {
  await putOld('a', 4);
  await putOld('b', 5);
  await api.create('boats', { metadata: { name: 'c' }, spec: { berths: 5 } }, AT_HUB);
  const options = { fieldSelector: 'spec.berths=5' };
  const list = await api.list('boats', { ...AT_HUB, options });
  expect(list.items.map(({ object }) => object.metadata.name)).toEqual(['b', 'c']);
  expect(webhook.calls).toEqual([`2 to ${HUB}`]);
  expect((await api.get('boats', 'a', AT_OLD)).spec).toEqual({ size: 4 });
});

it('shows a table of objects that were replaced during the conversion', async () => {
  await putOld('a', 4);
  webhook.hold();
  const listing = api.list('boats', AT_OLD);
  await settled();
  webhook.release();
  webhook.hold();
  await settled();
  expect(webhook.calls).toEqual([`1 to ${HUB}`, `1 to ${OLD}`]);
  await putOld('a', 9);
  webhook.release();
  expect(tableOf(await listing)).toEqual([['a', 4, 4]]);
});

describe('watches', () => {
  it('show current and new objects in order, however long conversions take', async () => {
    await putOld('a', 1);
    webhook.hold();
    const watch = await api.watch('boats', AT_OLD);
    await settled();
    await api.create('boats', { metadata: { name: 'b' }, spec: { berths: 2 } }, AT_HUB);
    await api.patch('boats', 'b', { spec: { berths: 3 } }, AT_HUB);
    await api.delete('boats', 'b', AT_HUB);
    await settled();
    expect(watch.events).toEqual([]);
    // Later batches are converted first.
    webhook.release();
    await watch.next(4);
    expect(told(watch.events)).toEqual(['ADDED a 1', 'ADDED b 2', 'MODIFIED b 3', 'DELETED b 3']);
  });

  it('show objects that enter and leave a selection', async () => {
    await putOld('a', 4);
    const watch = await api.watch('boats', { ...AT_OLD, options: { fieldSelector: 'spec.berths=5' } });
    await settled();
    await putOld('a', 5);
    await putOld('a', 6);
    await watch.next(2);
    expect(told(watch.events)).toEqual(['ADDED a 5', 'DELETED a 5']);
  });

  it('start from a revision, and mark the end of the initial objects', async () => {
    const { metadata } = await api.create('boats', { metadata: { name: 'a' }, spec: { berths: 1 } }, AT_HUB);
    await api.create('boats', { metadata: { name: 'b' }, spec: { berths: 2 } }, AT_HUB);
    const later = await api.watch('boats', { ...AT_OLD, options: { resourceVersion: metadata.resourceVersion } });
    expect(told(await later.next())).toEqual(['ADDED b 2']);
    const options = { sendInitialEvents: true, resourceVersionMatch: 'NotOlderThan', allowWatchBookmarks: true };
    const marked = await api.watch('boats', { ...AT_OLD, options });
    const events = await marked.next(3);
    expect(events.map(({ type }) => type)).toEqual(['ADDED', 'ADDED', 'BOOKMARK']);
  });

  it('send a bookmark only after the events before it', async () => {
    const options = { allowWatchBookmarks: true };
    const watch = await api.watch('boats', { ...AT_OLD, options });
    await settled();
    webhook.hold();
    await api.create('boats', { metadata: { name: 'a' }, spec: { berths: 1 } }, AT_HUB);
    await api.clock.advance(60_000);
    await settled();
    expect(watch.events).toEqual([]);
    webhook.release();
    await watch.next(2);
    expect(watch.events.map(({ type }) => type)).toEqual(['ADDED', 'BOOKMARK']);
  });

  it('end with an error when a conversion fails', async () => {
    const watch = await api.watch('boats', AT_OLD);
    await settled();
    webhook.failure = new ApiError('InternalError', 'conversion webhook for boats failed');
    await api.create('boats', { metadata: { name: 'a' }, spec: { berths: 1 } }, AT_HUB);
    const [error] = await watch.next();
    expect(error).toMatchObject({ type: 'ERROR', object: { message: 'conversion webhook for boats failed' } });
    await watch.next();
    expect(watch.ended).toBe(true);
  });

  it('wait for nothing in the stored version', async () => {
    const watch = await api.watch('boats', AT_HUB);
    await api.create('boats', { metadata: { name: 'a' }, spec: { berths: 1 } }, AT_HUB);
    await watch.next();
    expect(watch.told()).toEqual(['ADDED a']);
    expect(webhook.calls).toEqual([]);
  });
});

describe('writes', () => {
  const stored = async (each: string) => JSON.parse((await api.store.get(KEY + each))!.value.toString());

  it('store objects created in another version in the stored one, and respond in the version of the request', async () => {
    const created = await api.create('boats', { metadata: { name: 'a' }, spec: { size: 7 } }, AT_OLD);
    expect(created).toMatchObject({ apiVersion: OLD, spec: { size: 7 } });
    expect(await stored('a')).toMatchObject({ apiVersion: HUB, spec: { berths: 7 } });
    const byDefault = await api.create('boats', { metadata: { name: 'b' }, spec: {} }, AT_OLD);
    expect(byDefault.spec).toEqual({ size: 1 });
  });

  it('replace an object in another version, and reject an outdated one', async () => {
    const created = await api.create('boats', { metadata: { name: 'a' }, spec: { size: 7 } }, AT_OLD);
    const replaced = await api.update('boats', { ...created, spec: { size: 8 } }, AT_OLD);
    expect(replaced).toMatchObject({ apiVersion: OLD, spec: { size: 8 } });
    expect(await stored('a')).toMatchObject({ apiVersion: HUB, spec: { berths: 8 } });
    await expect(api.update('boats', { ...created, spec: { size: 9 } }, AT_OLD)).rejects.toMatchObject({ code: 409 });
  });

  it.each(['merge', 'json'] as const)('patch an object in another version (%s)', async (patchType) => {
    await api.create('boats', { metadata: { name: 'a' }, spec: { berths: 7 } }, AT_HUB);
    const body = patchType === 'json' ? [{ op: 'replace', path: '/spec/size', value: 8 }] : { spec: { size: 8 } };
    const patched = await api.patch('boats', 'a', body, { ...AT_OLD, patchType });
    expect(patched).toMatchObject({ apiVersion: OLD, spec: { size: 8 } });
    expect(await stored('a')).toMatchObject({ apiVersion: HUB, spec: { berths: 8 } });
  });

  it('patch the newest object when another write happens during the conversion', async () => {
    await api.create('boats', { metadata: { name: 'a' }, spec: { berths: 7 } }, AT_HUB);
    webhook.hold();
    const patching = api.patch('boats', 'a', { metadata: { labels: { x: 'y' } } }, AT_OLD);
    await settled();
    await api.patch('boats', 'a', { spec: { berths: 9 } }, AT_HUB);
    webhook.release();
    expect(await patching).toMatchObject({ metadata: { labels: { x: 'y' } }, spec: { size: 9 } });
  });

  it('show a dry run in the version of the request', async () => {
    const dryRun = { ...AT_OLD, options: { dryRun: ['All'] } };
    const shown = await api.create('boats', { metadata: { name: 'a' }, spec: { size: 7 } }, dryRun);
    expect(shown).toMatchObject({ apiVersion: OLD, spec: { size: 7 } });
    await expect(api.get('boats', 'a', AT_HUB)).rejects.toMatchObject({ code: 404 });
  });

  it('change, migrate and delete objects stored in another version', async () => {
    for (const each of ['a', 'b', 'c', 'd']) await putOld(each, 4);
    await api.patch('boats', 'a', { metadata: { labels: { x: 'y' } } }, AT_HUB);
    expect(await stored('a')).toMatchObject({ apiVersion: HUB, spec: { berths: 4 } });
    await api.update('boats', await api.get('boats', 'b', AT_OLD), AT_OLD);
    expect(await stored('b')).toMatchObject({ apiVersion: HUB, spec: { berths: 4 } });
    await api.delete('boats', 'c', AT_OLD);
    expect(await api.store.get(`${KEY}c`)).toBeUndefined();
    await api.deleteCollection('boats', { ...AT_OLD, options: { fieldSelector: 'spec.berths=4' } });
    expect((await api.list('boats', AT_OLD)).items).toEqual([]);
  });

  it('read and write a part of an object in another version', async () => {
    await api.create('boats', { metadata: { name: 'a' }, spec: { berths: 7 } }, AT_HUB);
    const at = { ...AT_OLD, subresource: 'status' };
    const patched = await api.patch('boats', 'a', { spec: { size: 9 }, status: { afloat: true } }, at);
    expect(patched).toMatchObject({ apiVersion: OLD, spec: { size: 7 }, status: { afloat: true } });
    expect(await stored('a')).toMatchObject({ apiVersion: HUB, spec: { berths: 7 }, status: { afloat: true } });
    expect((await api.get('boats', 'a', at)).status).toEqual({ afloat: true });
  });

  it('fail when the conversion fails, and store nothing', async () => {
    webhook.failure = new ApiError('InternalError', 'conversion webhook for boats failed');
    const creating = api.create('boats', { metadata: { name: 'a' }, spec: { size: 7 } }, AT_OLD);
    await expect(creating).rejects.toThrow('conversion webhook for boats failed');
    expect(await api.store.get(`${KEY}a`)).toBeUndefined();
  });
});

it('asynchronous conversions cannot be mixed with synchronous ones', () => {
  const definition = {
    group: 'example.com',
    kind: 'Boat',
    plural: 'boats',
    scope: 'Cluster',
    description: '',
  } as const;
  const versions = { [HUB]: {}, [OLD]: { toHub: (object: KubeObject) => object } };
  expect(() => defineKind({ ...definition, versions, fields: {}, conversion: webhook })).toThrow('asynchronous');
});
