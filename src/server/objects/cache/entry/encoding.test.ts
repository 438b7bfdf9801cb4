import { expect, it } from 'vitest';
import { fc, forAll } from '../../../../../test/support/property-runs.ts';
import type { KubeObject } from '../../../../kinds/kind.ts';
import { encode, encodeChange } from './encoding.ts';

const objectOf = (rest: object) =>
  ({ spec: {}, kind: 'Pod', metadata: { name: 'a' }, apiVersion: 'v1', ...rest }) as KubeObject;

it('an encoded object is its JSON, with kind, apiVersion and metadata first, and without undefined fields', () => {
  forAll(fc.dictionary(fc.string(), fc.jsonValue()), (rest) => {
    const object = objectOf({ gone: undefined, ...rest });
    const text = encode(object).toString();
    expect(text.startsWith(`{"kind":"Pod","apiVersion":"v1","metadata":{`)).toBe(true);
    expect(JSON.parse(text)).toEqual(JSON.parse(JSON.stringify(object)));
  });
});

it('an encoded object may be larger than the encoding buffer', () => {
  const object = objectOf({ spec: { text: 'ä'.repeat(300_000) } });
  expect(JSON.parse(encode(object).toString())).toEqual(object);
});

const parts = fc.dictionary(fc.string({ minLength: 1 }), fc.jsonValue(), { maxKeys: 5 });

it('a changed object is encoded to the same bytes as without copied parts', () => {
  forAll(parts, parts, fc.infiniteStream(fc.boolean()), (old, next, coins) => {
    const before = objectOf(old);
    const encoded = encodeChange(before);
    const kept = Object.fromEntries(Object.entries(old).filter(() => coins.next().value));
    const object = objectOf({ ...next, ...kept, metadata: { name: 'b' } });
    const change = encodeChange(object, { object: before, encoded });
    expect(change.bytes.toString()).toBe(encode(object).toString());
    // Parts that were copied can be copied again.
    const third = objectOf({ ...object, metadata: { name: 'c' } });
    expect(encodeChange(third, { object, encoded: change }).bytes.toString()).toBe(encode(third).toString());
  });
});
