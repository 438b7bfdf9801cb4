import { describe, expect, it } from 'vitest';
import {
  difference,
  type FieldSet,
  intersection,
  isEmptySet,
  parseFieldSet,
  pathsIn,
  recursiveDifference,
  sorted,
  union,
} from './field-set.ts';

const leaf = {};
/** Returns a set of paths such as `a.b`; a path with another one below it is also a member. */
const setOf = (...paths: string[]): FieldSet =>
  paths
    .map((path) =>
      path
        .split('.')
        .reverse()
        .reduce<FieldSet>((below, name) => ({ [`f:${name}`]: below }), leaf),
    )
    .reduce(union, {});
const paths = (set: FieldSet) => pathsIn(set).map((path) => path.slice(1));

describe('sets of fields', () => {
  const all = setOf('a', 'a.b', 'a.c', 'd.e');

  it('have members that have members below them', () => {
    expect(all).toEqual({ 'f:a': { '.': {}, 'f:b': {}, 'f:c': {} }, 'f:d': { 'f:e': {} } });
    expect(paths(all)).toEqual(['a', 'a.b', 'a.c', 'd.e']);
  });

  it('can be united, intersected and subtracted', () => {
    expect(paths(union(setOf('a.b'), setOf('a', 'c')))).toEqual(['a', 'c', 'a.b']);
    expect(paths(intersection(all, setOf('a', 'a.c', 'd')))).toEqual(['a', 'a.c']);
    expect(isEmptySet(intersection(all, setOf('d', 'x')))).toBe(true);
    expect(paths(difference(all, setOf('a', 'd.e')))).toEqual(['a.b', 'a.c']);
    expect(paths(difference(all, setOf('a.b', 'a.c')))).toEqual(['a', 'd.e']);
    expect(difference(all, setOf('a.b', 'a.c'))).toEqual({ 'f:a': {}, 'f:d': { 'f:e': {} } });
    expect(isEmptySet(difference(all, all))).toBe(true);
  });

  it('lose what is below a member in a recursive difference', () => {
    expect(paths(recursiveDifference(all, setOf('a')))).toEqual(['d.e']);
    expect(paths(recursiveDifference(all, setOf('a.b', 'd')))).toEqual(['a', 'a.c']);
  });
});

it('members are listed in the order of Kubernetes: fields, keys by their values, values by their type', () => {
  const keys = ['v:"b"', 'i:10', 'k:{"port":8080}', 'f:b', 'v:10', 'k:{"port":80}', 'v:9', '.', 'f:a', 'i:9', 'v:true'];
  const set = Object.fromEntries(keys.map((key) => [key, leaf]));
  expect(Object.keys(sorted(set))).toEqual([
    '.',
    'f:a',
    'f:b',
    'k:{"port":80}',
    'k:{"port":8080}',
    'v:9',
    'v:10',
    'v:"b"',
    'v:true',
    'i:9',
    'i:10',
  ]);
});

it('members are shown as paths', () => {
  const set = { 'f:a': { 'k:{"name":"x","port":80}': { 'f:b': {} }, 'v:"y"': {}, 'i:3': {} } };
  expect(pathsIn(set)).toEqual(['.a[="y"]', '.a[3]', '.a[name="x",port=80].b']);
});

it.each([
  [{ 'f:a': { '.': {}, 'f:b': {} } }, true],
  [{ 'x:later': {}, 'f:a': {} }, true],
  [undefined, true],
  [{ a: {} }, false],
  [{ 'f:a': 1 }, false],
  [{ 'k:{"a"': {} }, false],
  [{ 'k:[]': {} }, false],
  [{ 'v:': {} }, false],
  [{ 'i:x': {} }, false],
  [[], false],
])('%j is read: %s', (value, isValid) => {
  expect(parseFieldSet(value) !== undefined).toBe(isValid);
});
