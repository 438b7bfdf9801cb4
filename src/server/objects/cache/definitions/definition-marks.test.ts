import { describe, expect, it } from 'vitest';
import { testServer } from '../../../../../test/support/server.ts';
import { ControlledClock } from '../../../../base/time/clock.ts';
import { Namespace } from '../../../../kinds/groups/core/namespace.ts';
import { defineKind, type Kind } from '../../../../kinds/kind.ts';
import { s } from '../../../../schema/builders.ts';
import { MemoryStore } from '../../../../store/memory/memory-store.ts';
import { DefinitionMarks } from './definition-marks.ts';

const AT = { apiVersion: 'example.com/v1' };
const KEY = '/registry/example.com/boats/default/';

function boats(colour: string): Kind {
  return defineKind({
    group: 'example.com',
    kind: 'Boat',
    plural: 'boats',
    scope: 'Namespaced',
    description: '',
    versions: { 'example.com/v1': {} },
    fields: { spec: s.object('BoatSpec', { colour: s.string({ default: colour }) }, { default: {} }) },
  });
}

const White = boats('white');
/** The same definition, as another start of the program creates it. */
const WhiteAgain = boats('white');
const Grey = boats('grey');

const newStore = () => new MemoryStore({ clock: new ControlledClock() });

const start = (store: MemoryStore, kind: Kind, build?: string) =>
  testServer([Namespace, kind], { store, clock: new ControlledClock(), release: build });

/** Stores a boat without defaults, as no server would: they are filled in only when the bytes are decoded. */
async function putBare(store: MemoryStore, name: string): Promise<void> {
  const value = Buffer.from(`{"kind":"Boat","apiVersion":"example.com/v1","metadata":{"name":"${name}"},"spec":{}}`);
  await store.commit([{ key: KEY + name, value }]);
}

async function colourShown(store: MemoryStore, kind: Kind, build?: string): Promise<unknown> {
  const api = await start(store, kind, build);
  const { spec } = await api.get('boats', 'bare', AT);
  api.server.close();
  return spec.colour;
}

describe('a stored object', () => {
  it('is served as stored if the current definition wrote it, and is decoded otherwise', async () => {
    const store = newStore();
    const first = await start(store, White, 'one');
    await first.create('boats', { metadata: { name: 'a' } }, AT);
    await putBare(store, 'bare');
    first.server.close();
    expect(await colourShown(store, WhiteAgain, 'one')).toBeUndefined();
    expect(await colourShown(store, Grey, 'one')).toBe('grey');
    expect(await colourShown(store, WhiteAgain, 'two')).toBe('white');
    // In a shared store, the writer of an object is unknown.
    expect(await colourShown(store, WhiteAgain)).toBe('white');
    // The shared store was not written to.
    expect(await colourShown(store, WhiteAgain, 'one')).toBeUndefined();
  });

  it('is decoded again once another definition wrote to its table', async () => {
    const store = newStore();
    const first = await start(store, White, 'one');
    await first.create('boats', { metadata: { name: 'a' } }, AT);
    await putBare(store, 'bare');
    first.server.close();
    const second = await start(store, Grey, 'one');
    await second.create('boats', { metadata: { name: 'b' } }, AT);
    second.server.close();
    expect(await colourShown(store, WhiteAgain, 'one')).toBe('white');
    expect(await colourShown(store, boats('grey'), 'one')).toBe('grey');
  });
});

it('marks are requested with the first write of a definition, and not afterwards', async () => {
  const store = newStore();
  const marks = await DefinitionMarks.load(store, 'one');
  const mark = marks.missing(White);
  if (!mark) throw new Error('no mark');
  const revision = await store.commit([mark]);
  expect(marks.missing(White)).toEqual(mark);
  marks.changed({ ...mark, revision, previous: undefined });
  expect(marks.missing(White)).toBeUndefined();
  expect(marks.isCurrent(White, revision)).toBe(true);
  expect(marks.isCurrent(White, revision - 1)).toBe(false);
  expect(marks.missing(Grey)).toBeDefined();
  const later = await DefinitionMarks.load(store, 'one');
  expect(later.missing(WhiteAgain)).toBeUndefined();
});
