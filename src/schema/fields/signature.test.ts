import { expect, it } from 'vitest';
import { fc, forAll } from '../../../test/support/property-runs.ts';
import { examples, kindOf, varied } from '../../../test/support/varied.ts';
import { s } from '../builders.ts';
import { decode } from '../decode/decode.ts';
import type { ObjectSchema } from '../schema.ts';
import { compareFields } from './compare.ts';
import { sorted, union } from './field-set.ts';
import { Signatures } from './signature.ts';
import { zeroObject } from './zero.ts';

const versionOf = (object: any) => kindOf(object)?.version;
const MAX_BYTES = 64 * 1024 * 1024;

it('the signature is the same only for objects with the same fields', () => {
  const signatures = new Signatures<string>(MAX_BYTES);
  let different = 0;
  let repeated = 0;
  forAll(
    { numRuns: 1500 },
    fc.constantFrom(...examples),
    fc.array(fc.nat(11), { minLength: 40, maxLength: 40 }),
    (example, choices) => {
      const version = versionOf(example);
      if (!version) return;
      const { schema } = version;
      let next = 0;
      const tree = varied(structuredClone(example), () => choices[next++ % choices.length]!);
      let object: any;
      try {
        object = decode(schema, { ...tree, kind: example.kind, apiVersion: example.apiVersion });
      } catch {
        return;
      }
      const { added, modified } = compareFields(schema, zeroObject(schema), object);
      const fields = JSON.stringify(sorted(union(modified, added)));
      const found = signatures.of(version, object);
      if (!found) return;
      const { signature, identifier } = found;
      if (signature.value === undefined) different++;
      else repeated++;
      // Identifiers do not count, and neither do values, but for the keys of items.
      const template = identifier === undefined ? fields : fields.replace(identifier, '*');
      signature.value ??= template;
      expect(signature.value).toBe(template);
      const renamed = { ...object, metadata: { ...object.metadata, name: 'another', uid: 'other' } };
      if (object.metadata?.name && object.metadata.uid) {
        expect(signatures.of(version, renamed)?.signature).toBe(signature);
      }
    },
  );
  expect(different).toBeGreaterThan(100);
  expect(repeated).toBeGreaterThan(0);
});

const ConfigMap = versionOf({ kind: 'ConfigMap', apiVersion: 'v1' })!;
const withKeys = (...keys: string[]) => ({
  ...{ kind: 'ConfigMap', apiVersion: 'v1' },
  data: Object.fromEntries(keys.map((key) => [key, ''])),
});

it('the signature is not confused by names that look like the end of a map', () => {
  const signatures = new Signatures<string>(MAX_BYTES);
  const all = [[], ['}'], ['a', '}'], ['a}'], ['a', 'b'], ['ab']].map((keys) => withKeys(...keys));
  expect(new Set(all.map((each) => signatures.of(ConfigMap, each)?.signature)).size).toBe(all.length);
  const list = signatures.of(ConfigMap, { ...withKeys(), data: [] })?.signature;
  expect(all.map((each) => signatures.of(ConfigMap, each)?.signature)).not.toContain(list);
});

it('the signature is forgotten when clients send too many different fields', () => {
  const maxBytes = 100_000;
  const signatures = new Signatures<string>(maxBytes);
  signatures.of(ConfigMap, withKeys('first'))!.signature.value = 'known';
  expect(signatures.of(ConfigMap, withKeys('first'))!.signature.value).toBe('known');
  for (let i = 0; i < 2_000; i++) {
    signatures.of(ConfigMap, withKeys(`key-${i}`));
    expect(signatures.bytes).toBeLessThan(1.1 * maxBytes);
  }
  expect(signatures.of(ConfigMap, withKeys('first'))!.signature.value).toBeUndefined();
});

it('the signature is not kept for an object that would displace all others', () => {
  const maxBytes = 100_000;
  const signatures = new Signatures<string>(maxBytes);
  const large = withKeys(...Array.from({ length: 1_000 }, (_, i) => `key-${i}`));
  expect(signatures.of(ConfigMap, large)).toBeUndefined();
  expect(signatures.bytes).toBeLessThan(maxBytes);
});

const owned = (...uids: string[]) => ({
  ...withKeys('a'),
  metadata: { name: 'a', ownerReferences: uids.map((uid) => ({ apiVersion: 'v1', kind: 'Pod', name: 'a', uid })) },
});

it('the signature does not depend on an identifier, which is found', () => {
  const signatures = new Signatures<string>(MAX_BYTES);
  const one = signatures.of(ConfigMap, owned('a-1'))!;
  const other = signatures.of(ConfigMap, owned('b-2'))!;
  expect(other.signature).toBe(one.signature);
  expect([one.identifier, other.identifier]).toEqual(['a-1', 'b-2']);
  // Keys that are not identifiers count like any other key.
  expect(signatures.of(ConfigMap, owned('a b'))!.identifier).toBeUndefined();
  expect(signatures.of(ConfigMap, owned('a b'))!.signature).not.toBe(one.signature);
});

it('the signature is not remembered where the order of several identifiers would count', () => {
  expect(new Signatures<string>(MAX_BYTES).of(ConfigMap, owned('a-1', 'b-2'))).toBeUndefined();
});

it('the signature is not remembered where an identifier is a default, which the set mentions and the object does not', () => {
  const item = s.object('Item', { uid: s.string({ default: 'usual' }), value: s.string() });
  const schema = s.object('Thing', { items: s.list(item, { list: 'map', keys: ['uid'] }) });
  const signatures = new Signatures<string>(MAX_BYTES);
  const find = (...items: object[]) => signatures.of({ schema: schema as ObjectSchema }, { items });
  expect(find({ uid: 'a-1' })?.identifier).toBe('a-1');
  expect(find({ value: 'v' })).toBeUndefined();
  expect(find({ value: 'v' }, { uid: 'a-1' })).toBeUndefined();
});
