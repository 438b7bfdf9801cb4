import { describe, expect, it } from 'vitest';
import { fc, forAll } from '../../../test/support/property-runs.ts';
import { deepFreeze } from '../../base/json/tree.ts';
import { applyMergePatch } from './merge-patch.ts';
import { PatchError } from './patch-error.ts';

/** The examples of RFC 7386, appendix A, that have objects for patches. */
const examples: [object, object, object][] = [
  [{ a: 'b' }, { a: 'c' }, { a: 'c' }],
  [{ a: 'b' }, { b: 'c' }, { a: 'b', b: 'c' }],
  [{ a: 'b' }, { a: null }, {}],
  [{ a: 'b', b: 'c' }, { a: null }, { b: 'c' }],
  [{ a: ['b'] }, { a: 'c' }, { a: 'c' }],
  [{ a: 'c' }, { a: ['b'] }, { a: ['b'] }],
  [{ a: { b: 'c' } }, { a: { b: 'd', c: null } }, { a: { b: 'd' } }],
  [{ a: [{ b: 'c' }] }, { a: [1] }, { a: [1] }],
  [{ e: null }, { a: 1 }, { e: null, a: 1 }],
  [[1, 2], { a: 'b', c: null }, { a: 'b' }],
  [{}, { a: { bb: { ccc: null } } }, { a: { bb: {} } }],
];

describe('a merge patch', () => {
  it.each(examples)('makes of %j with %j: %j', (current, patch, result) => {
    expect(applyMergePatch(deepFreeze(current), deepFreeze(patch))).toEqual(result);
  });

  it.each([
    [null, 'Invalid JSON Patch'],
    [[], 'error decoding patch: json: cannot unmarshal array into Go value of type map[string]interface {}'],
    ['x', 'error decoding patch: json: cannot unmarshal string into Go value of type map[string]interface {}'],
  ])('is an object, not %j', (patch, message) => {
    expect(() => applyMergePatch({}, patch)).toThrow(new PatchError('BadRequest', message));
  });

  it('shares what it does not touch', () => {
    const current = { metadata: { labels: {} }, spec: { deep: {} } };
    const result = applyMergePatch(current, { metadata: { labels: { a: 'b' } } }) as typeof current;
    expect(result.spec).toBe(current.spec);
    expect(current.metadata.labels).toEqual({});
  });

  it('can be as deep as nothing ever is, and gets an error', () => {
    const deep = JSON.parse(`${'{"a":'.repeat(20_000)}1${'}'.repeat(20_000)}`);
    expect(() => applyMergePatch({}, deep)).toThrow(PatchError);
  });

  it('keeps hostile keys as data', () => {
    const result = applyMergePatch(
      {},
      JSON.parse('{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}}}'),
    );
    expect(JSON.stringify(result)).toBe('{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}}}');
    expect(({} as any).polluted).toBe(undefined);
  });
});

const tree = fc.dictionary(fc.constantFrom('a', 'b', 'c', '__proto__'), fc.jsonValue({ maxDepth: 3 }), {
  noNullPrototype: true,
});

describe('for any patch', () => {
  const apply = (current: unknown, patch: unknown) => JSON.parse(JSON.stringify(applyMergePatch(current, patch)));

  it('applying it twice is applying it once', () => {
    forAll(tree, tree, (current, patch) => {
      const once = apply(current, patch);
      expect(apply(once, patch)).toEqual(once);
    });
  });

  it('an empty one changes nothing', () => {
    forAll(tree, (current) => {
      expect(apply(current, {})).toEqual(JSON.parse(JSON.stringify(current)));
    });
  });

  it('neither it nor the tree is changed', () => {
    forAll(tree, tree, (current, patch) => {
      const before = JSON.stringify([current, patch]);
      applyMergePatch(deepFreeze(current), deepFreeze(patch));
      expect(JSON.stringify([current, patch])).toBe(before);
    });
  });
});
