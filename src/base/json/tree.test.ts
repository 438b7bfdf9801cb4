import { describe, expect, it } from 'vitest';
import { fc, forAll } from '../../../test/support/property-runs.ts';
import { clone, deepEqual, deepFreeze, getPath, setPath, withoutUndefined } from './tree.ts';

const hostile = () => JSON.parse('{"__proto__":{"polluted":true},"constructor":{"x":1},"a":[{"b":null}]}');

it('clone shares nothing and keeps hostile keys as data', () => {
  const tree = deepFreeze(hostile());
  const copy = clone(tree);
  expect(JSON.stringify(copy)).toBe(JSON.stringify(tree));
  expect(Object.getPrototypeOf(copy)).toBe(Object.prototype);
  copy.a[0].b = 1;
  expect(tree.a[0].b).toBe(null);
});

it('clone equals the original, until either changes', () => {
  forAll(fc.jsonValue(), fc.string(), (tree, key) => {
    const copy = clone(tree);
    expect(deepEqual(tree, copy)).toBe(true);
    expect(deepEqual({ tree, [`${key}!`]: 1 }, { tree })).toBe(false);
  });
});

it('deepEqual ignores inherited properties', () => {
  expect(deepEqual(JSON.parse('{"__proto__":{}}'), { x: {} })).toBe(false);
  expect(deepEqual({ x: {} }, JSON.parse('{"__proto__":{}}'))).toBe(false);
  expect(deepEqual(hostile(), hostile())).toBe(true);
});

it('deepEqual distinguishes lists from objects, and ignores undefined values', () => {
  expect(deepEqual([], {})).toBe(false);
  expect(deepEqual({}, [])).toBe(false);
  expect(deepEqual({ a: undefined }, {})).toBe(true);
  expect(deepEqual({ a: 1, b: undefined }, { a: 1, c: 2 })).toBe(false);
  expect(deepEqual(null, {})).toBe(false);
});

describe('paths', () => {
  it('reads own properties only', () => {
    expect(getPath({ spec: { replicas: 3 } }, 'spec.replicas')).toBe(3);
    expect(getPath({ spec: 1 }, 'spec.replicas.more')).toBe(undefined);
    expect(getPath({}, 'constructor.name')).toBe(undefined);
  });

  it('sets a value in a copy that shares the rest', () => {
    const before = deepFreeze({ spec: { replicas: 3, template: { x: 1 } }, status: {} });
    const after = setPath(before, 'spec.replicas', 5);
    expect(after).toEqual({ spec: { replicas: 5, template: { x: 1 } }, status: {} });
    expect(after.spec.template).toBe(before.spec.template);
    expect(before.spec.replicas).toBe(3);
  });

  it('removes a field with undefined, and creates missing parents', () => {
    expect(setPath({ a: { b: 1, c: 2 } }, 'a.b', undefined)).toEqual({ a: { c: 2 } });
    expect(setPath({} as object, 'a.b.c', 1)).toEqual({ a: { b: { c: 1 } } });
    const after = setPath({} as object, '__proto__.polluted', true);
    expect(Object.getPrototypeOf(after)).toBe(Object.prototype);
    expect(({} as any).polluted).toBe(undefined);
  });
});

it('withoutUndefined keeps everything else, and the order of the fields', () => {
  const fields = withoutUndefined({ b: null, a: undefined, c: '', d: 0, e: false });
  expect(Object.entries(fields)).toEqual([
    ['b', null],
    ['c', ''],
    ['d', 0],
    ['e', false],
  ]);
});

it('withoutUndefined keeps hostile keys as data', () => {
  expect(JSON.stringify(withoutUndefined(hostile()))).toBe(JSON.stringify(hostile()));
});
