import { expect, it } from 'vitest';
import { testServer } from '../../../../test/support/server.ts';
import { isApiError } from '../../../api/errors.ts';
import { ControlledClock } from '../../../base/time/clock.ts';
import { Namespace } from '../../../kinds/groups/core/namespace.ts';
import { defineKind, type Kind } from '../../../kinds/kind.ts';
import { s } from '../../../schema/builders.ts';
import { MemoryStore } from '../../../store/memory/memory-store.ts';

const GROUP = 'example.com';
const OLD = `${GROUP}/v1beta1`;
const NEW = `${GROUP}/v1`;

const base = { group: GROUP, kind: 'Boat', plural: 'boats', scope: 'Namespaced', description: '' } as const;
const size = s.object('BoatSpec', { size: s.int32(), colour: s.string({ default: 'grey' }) });
const berths = s.object('BoatSpec', {
  berths: s.int32(),
  colour: s.string({ default: 'white' }),
  sails: s.boolean({ default: true }),
});

/** The kind as first released. */
const Beta = defineKind({ ...base, versions: { [OLD]: {} }, fields: { spec: size } });

const betaVersion = {
  fields: { spec: size },
  toHub: ({ spec = {}, ...rest }: any) => ({ ...rest, spec: { berths: spec.size, colour: spec.colour, sails: false } }),
  fromHub: ({ spec = {}, ...rest }: any) => ({ ...rest, spec: { size: spec.berths, colour: spec.colour } }),
};

/** The same kind after its promotion: stored in v1, and still served in v1beta1. */
const Promoted = defineKind({ ...base, versions: { [NEW]: {}, [OLD]: betaVersion }, fields: { spec: berths } });

/** The kind after the old version was dropped. */
const Dropped = defineKind({ ...base, versions: { [NEW]: {} }, fields: { spec: berths } });

const KEY = '/registry/example.com/boats/default/';
const oldBytes = (name: string) =>
  Buffer.from(`{"kind":"Boat","apiVersion":"${OLD}","metadata":{"name":"${name}"},"spec":{"size":3}}`);

async function serverOf(kind: Kind, store: MemoryStore, build?: string) {
  const lines: string[] = [];
  const note = (message: string, fields?: object) => void lines.push(`${message} ${JSON.stringify(fields)}`);
  const log = { debug: note, info: note, warn: note, error: note } as never;
  const clock = new ControlledClock();
  return { ...(await testServer([Namespace, kind], { store, clock, release: build, log })), lines };
}

async function storeWithOldBoats(): Promise<MemoryStore> {
  const store = new MemoryStore({ clock: new ControlledClock() });
  const before = await serverOf(Beta, store, 'one');
  for (const name of ['a', 'b']) {
    await before.create('boats', { metadata: { name, labels: { name } }, spec: { size: 3 } }, { apiVersion: OLD });
  }
  before.server.close();
  return store;
}

const converted = { berths: 3, colour: 'grey', sails: false };

it('reads an object in its stored version, with the defaults of that version', async () => {
  const api = await serverOf(Promoted, await storeWithOldBoats(), 'one');
  expect(await api.get('boats', 'a', { apiVersion: NEW })).toMatchObject({ apiVersion: NEW, spec: converted });
  expect((await api.get('boats', 'a', { apiVersion: NEW })).spec).toEqual(converted);
  expect((await api.get('boats', 'a', { apiVersion: OLD })).spec).toEqual({ size: 3, colour: 'grey' });
});

it('lists objects stored in another version, whole and selected', async () => {
  const api = await serverOf(Promoted, await storeWithOldBoats(), 'one');
  await api.create('boats', { metadata: { name: 'c' }, spec: { berths: 9 } }, { apiVersion: NEW });
  const list = JSON.parse((await api.list('boats', { apiVersion: NEW })).json().toString());
  expect(list.items.map(({ spec }: any) => spec)).toEqual([
    converted,
    converted,
    { berths: 9, colour: 'white', sails: true },
  ]);
  const old = JSON.parse((await api.list('boats', { apiVersion: OLD })).json().toString());
  expect(old.items.map(({ spec }: any) => spec.size)).toEqual([3, 3, 9]);
  const one = await api.list('boats', { apiVersion: NEW, options: { labelSelector: 'name=b' } });
  expect(JSON.parse(one.json().toString()).items.map(({ metadata }: any) => metadata.name)).toEqual(['b']);
});

it('shows watchers objects stored in another version', async () => {
  const api = await serverOf(Promoted, await storeWithOldBoats(), 'one');
  const watch = await api.watch('boats', { apiVersion: NEW });
  expect((await watch.next(2)).map(({ object }) => (object as any).spec)).toEqual([converted, converted]);
  await api.delete('boats', 'a', { apiVersion: NEW });
  const [gone] = await watch.next();
  expect(gone).toMatchObject({ type: 'DELETED', object: { apiVersion: NEW, spec: converted } });
});

it('stores an object in the current version with its next update, even one without changes', async () => {
  const store = await storeWithOldBoats();
  const api = await serverOf(Promoted, store, 'one');
  const stored = async (name: string) => JSON.parse((await store.get(KEY + name))!.value.toString());
  await api.patch('boats', 'a', { metadata: { labels: { x: 'y' } } }, { apiVersion: OLD });
  expect(await stored('a')).toMatchObject({ apiVersion: NEW, spec: converted });

  const found = await api.get('boats', 'b', { apiVersion: NEW });
  const moved = await api.update('boats', found, { apiVersion: NEW });
  expect(await stored('b')).toMatchObject({ apiVersion: NEW, spec: converted });
  expect(moved.metadata.resourceVersion).not.toBe(found.metadata.resourceVersion);

  const again = await api.update('boats', moved, { apiVersion: NEW });
  expect(again.metadata.resourceVersion).toBe(moved.metadata.resourceVersion);
});

it('writes nothing for an update without changes when the stored bytes are current, whoever wrote them', async () => {
  const store = await storeWithOldBoats();
  const api = await serverOf(Beta, store);
  const found = await api.get('boats', 'a', { apiVersion: OLD });
  expect((await api.update('boats', found, { apiVersion: OLD })).metadata.resourceVersion).toBe(
    found.metadata.resourceVersion,
  );
});

it('rejects a read of an object whose version was removed, and names the version', async () => {
  const store = await storeWithOldBoats();
  const api = await serverOf(Dropped, store, 'one');
  await api.create('boats', { metadata: { name: 'c' }, spec: {} }, { apiVersion: NEW });
  const failure = await api.get('boats', 'a', { apiVersion: NEW }).catch((error) => error);
  expect(isApiError(failure, 'InternalError')).toBe(true);
  expect(failure.message).toContain('corrupt object');
  expect(failure.message).toContain(`no kind "Boat" is registered for version "${OLD}"`);
  expect(failure.message).toContain(`${KEY}a`);
  expect(api.lines.some((line) => line.includes(`${KEY}a`))).toBe(true);
  expect((await api.get('boats', 'c', { apiVersion: NEW })).metadata.name).toBe('c');
});

it('removes an object whose version was removed when a client accepts the loss', async () => {
  const api = await serverOf(Dropped, await storeWithOldBoats(), 'one');
  const body = { ignoreStoreReadErrorWithClusterBreakingPotential: true };
  await expect(api.delete('boats', 'a', { apiVersion: NEW })).rejects.toThrow('corrupt object');
  for (const name of ['a', 'b']) await api.delete('boats', name, { apiVersion: NEW, body });
  expect(JSON.parse((await api.list('boats', { apiVersion: NEW })).json().toString()).items).toEqual([]);
});

it('rejects a list with an error that names every object that cannot be read', async () => {
  const api = await serverOf(Dropped, await storeWithOldBoats(), 'one');
  const failure = await api.list('boats', { apiVersion: NEW }).catch((error) => error);
  expect(isApiError(failure, 'StorageReadError')).toBe(true);
  expect(failure.code).toBe(500);
  expect(failure.message).toBe('failed to read one or more boats.example.com from the storage');
  expect(failure.details).toMatchObject({ group: GROUP, kind: 'boats' });
  expect(failure.details.causes).toMatchObject([
    { reason: 'UnexpectedServerResponse', field: `${KEY}a` },
    { reason: 'UnexpectedServerResponse', field: `${KEY}b` },
  ]);
});

it('ends a watch with an error when an object cannot be read, and continues with others', async () => {
  const store = new MemoryStore({ clock: new ControlledClock() });
  const api = await serverOf(Dropped, store);
  const watch = await api.watch('boats', { apiVersion: NEW });
  const others = await api.watch('namespaces', { apiVersion: 'v1', namespace: '' });
  await store.commit([{ key: `${KEY}a`, value: oldBytes('a') }]);
  const [failure] = await watch.next();
  expect(failure).toMatchObject({ type: 'ERROR', object: { reason: 'InternalError' } });
  await watch.next();
  expect(watch.ended).toBe(true);
  const first = await api.watch('boats', { apiVersion: NEW });
  expect(await first.next()).toMatchObject([{ type: 'ERROR' }]);
  await api.create('namespaces', { metadata: { name: 'later' } }, { namespace: '' });
  await expect.poll(() => others.told()).toContain('ADDED later');
});

it('rejects bytes that are not an object', async () => {
  const store = new MemoryStore({ clock: new ControlledClock() });
  await store.commit([{ key: `${KEY}a`, value: Buffer.from('k8s\0 not JSON') }]);
  const api = await serverOf(Promoted, store);
  await expect(api.get('boats', 'a', { apiVersion: NEW })).rejects.toThrow('corrupt object');
});
