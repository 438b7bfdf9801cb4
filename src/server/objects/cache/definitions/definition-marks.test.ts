import { expect, it } from 'vitest';
import { testServer } from '../../../../../test/support/server.ts';
import { ControlledClock } from '../../../../base/time/clock.ts';
import { allKinds } from '../../../../kinds/all.ts';
import { Namespace } from '../../../../kinds/groups/core/namespace.ts';
import { defineKind, type Kind, type KindDefinition } from '../../../../kinds/kind.ts';
import { s } from '../../../../schema/builders.ts';
import type { Schema } from '../../../../schema/schema.ts';
import { MemoryStore } from '../../../../store/memory/memory-store.ts';
import { DefinitionMarks, fingerprintOf } from './definition-marks.ts';

const AT = { apiVersion: 'example.com/v1' };
const KEY = '/registry/example.com/boats/default/';

function boats(colour: string): Kind {
  return defineKind({
    kind: 'Boat',
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

it('a stored object is served as stored if the current definition wrote it, and is decoded otherwise', async () => {
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

it('a stored object is decoded again once another definition wrote to its table', async () => {
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

function fingerprint(changes: Partial<KindDefinition>, build = 'build'): string {
  const definition: KindDefinition = {
    kind: 'Boat',
    scope: 'Namespaced',
    description: 'A boat.',
    versions: { 'example.com/v1': {}, 'example.com/v1beta1': {} },
    fields: { spec: s.object('BoatSpec', { colour: s.string('Colour.', { default: 'white' }) }) },
    ...changes,
  };
  return fingerprintOf(defineKind(definition), build);
}

const usual = fingerprint({});

it('fingerprints are equal for equal definitions, however they are written', () => {
  const described = s.object('BoatSpec', { colour: s.string('Its colour.', { default: 'white' }) });
  expect(fingerprint({ fields: { spec: described }, description: 'Something that floats.' })).toBe(usual);
});

it.each<[string, Partial<KindDefinition>]>([
  ['a default', { fields: { spec: s.object('BoatSpec', { colour: s.string({ default: 'grey' }) }) } }],
  ['a computed default', { fields: { spec: s.object('BoatSpec', { colour: s.string({ default: () => 'white' }) }) } }],
  ['a field', { fields: { spec: s.object('BoatSpec', { color: s.string({ default: 'white' }) }) } }],
  ['a type', { fields: { spec: s.object('BoatSpec', { colour: s.list(s.string()) }) } }],
  ['the stored version', { versions: { 'example.com/v1beta1': {}, 'example.com/v1': {} } }],
  ['the versions', { versions: { 'example.com/v1': {} } }],
  ['a conversion', { versions: { 'example.com/v1': {}, 'example.com/v1beta1': { toHub: (object) => object } } }],
])('changes with %s', (_, change) => {
  expect(fingerprint(change)).not.toBe(usual);
});

it('changes with the build', () => {
  expect(fingerprint({}, 'another build')).not.toBe(usual);
});

it('includes shapes that contain themselves', () => {
  const recursive = (size: Schema) => {
    const Deck: Schema = s.object('Deck', { size, below: s.lazy(() => Deck) });
    return fingerprint({ fields: { spec: Deck } });
  };
  expect(recursive(s.int32())).toBe(recursive(s.int32()));
  expect(recursive(s.int32())).not.toBe(recursive(s.string()));
});

it('differs between all kinds', () => {
  expect(new Set(allKinds.map((kind) => fingerprintOf(kind, ''))).size).toBe(allKinds.length);
});
