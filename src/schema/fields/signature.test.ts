import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { allKinds } from '../../kinds/all.ts';
import { decode } from '../decode.ts';
import { compareFields } from './compare.ts';
import { sorted, union } from './field-set.ts';
import { Signatures } from './signature.ts';
import { zeroObject } from './zero.ts';

const FOLDER = join(import.meta.dirname, '..', '..', '..', 'examples', 'kinds');
const examples = readdirSync(FOLDER).flatMap((file) =>
  parseAllDocuments(readFileSync(join(FOLDER, file), 'utf8')).map((each) => each.toJS() as any),
);
const versionOf = ({ kind, apiVersion }: any) =>
  [...allKinds].find((each) => each.kind === kind)?.versions.find((each) => each.apiVersion === apiVersion);
const MAX_BYTES = 64 * 1024 * 1024;

/** The tree with fewer fields and items, and other values, as `choose` says. */
function varied(value: any, choose: () => number): any {
  if (Array.isArray(value)) return value.filter(() => choose() % 4 > 0).map((item) => varied(item, choose));
  if (typeof value !== 'object' || value === null) return choose() % 3 > 0 ? value : otherValue(value);
  const kept = Object.entries(value).filter(([key]) => key === 'kind' || key === 'apiVersion' || choose() % 4 > 0);
  return Object.fromEntries(kept.map(([key, child]) => [key, key === 'kind' ? child : varied(child, choose)]));
}

const otherValue = (value: unknown) => (typeof value === 'string' ? `${value}x` : value);

it('is the same only for objects with the same fields', () => {
  const signatures = new Signatures<string>(MAX_BYTES);
  let different = 0;
  let repeated = 0;
  fc.assert(
    fc.property(
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
        const signature = signatures.of(version, object);
        if (signature.value === undefined) different++;
        else repeated++;
        signature.value ??= fields;
        expect(signature.value).toBe(fields);
        // Values do not count, but for the keys of items.
        const renamed = { ...object, metadata: { ...object.metadata, name: 'another', uid: 'other' } };
        if (object.metadata?.name && object.metadata.uid) expect(signatures.of(version, renamed)).toBe(signature);
      },
    ),
    { numRuns: 1500 },
  );
  expect(different).toBeGreaterThan(100);
  expect(repeated).toBeGreaterThan(0);
});

const ConfigMap = versionOf({ kind: 'ConfigMap', apiVersion: 'v1' })!;
const withKeys = (...keys: string[]) => ({
  ...{ kind: 'ConfigMap', apiVersion: 'v1' },
  data: Object.fromEntries(keys.map((key) => [key, ''])),
});

it('is not confused by names that look like the end of a map', () => {
  const signatures = new Signatures<string>(MAX_BYTES);
  const all = [[], ['}'], ['a', '}'], ['a}'], ['a', 'b'], ['ab']].map((keys) => withKeys(...keys));
  expect(new Set(all.map((each) => signatures.of(ConfigMap, each))).size).toBe(all.length);
  const list = signatures.of(ConfigMap, { ...withKeys(), data: [] });
  expect(all.map((each) => signatures.of(ConfigMap, each))).not.toContain(list);
});

it('is forgotten when clients send too many different fields', () => {
  const maxBytes = 100_000;
  const signatures = new Signatures<string>(maxBytes);
  signatures.of(ConfigMap, withKeys('first')).value = 'known';
  expect(signatures.of(ConfigMap, withKeys('first')).value).toBe('known');
  for (let i = 0; i < 2_000; i++) {
    signatures.of(ConfigMap, withKeys(`key-${i}`));
    expect(signatures.bytes).toBeLessThan(1.1 * maxBytes);
  }
  expect(signatures.of(ConfigMap, withKeys('first')).value).toBeUndefined();
});

it('is not kept for an object that would displace all others', () => {
  const maxBytes = 100_000;
  const signatures = new Signatures<string>(maxBytes);
  const large = withKeys(...Array.from({ length: 1_000 }, (_, i) => `key-${i}`));
  signatures.of(ConfigMap, large).value = 'known';
  expect(signatures.of(ConfigMap, large).value).toBeUndefined();
  expect(signatures.bytes).toBeLessThan(maxBytes);
});
