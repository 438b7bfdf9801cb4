import { expect, it } from 'vitest';
import { allKinds } from '../../../../kinds/all.ts';
import { defineKind, type KindDefinition } from '../../../../kinds/kind.ts';
import { s } from '../../../../schema/builders.ts';
import type { Schema } from '../../../../schema/schema.ts';
import { fingerprintOf } from './fingerprint.ts';

function fingerprint(changes: Partial<KindDefinition>, build = 'build'): string {
  const definition: KindDefinition = {
    group: 'example.com',
    kind: 'Boat',
    plural: 'boats',
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
