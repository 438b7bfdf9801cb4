import { expect, it } from 'vitest';
import { areCompatible, compareReleases, minorOf, nextMinor } from './release.ts';

it.each([
  ['0.1.0', '0.1.7'],
  ['0.1.0', '0.2.0'],
  ['0.9', '0.10.3'],
  ['0.7.0', '1.0.0'],
])('servers of two releases may use one store: %s and %s', (a, b) => {
  expect(areCompatible(a, b)).toBe(true);
  expect(areCompatible(b, a)).toBe(true);
});

it.each([
  ['0.1.0', '0.3.0'],
  ['0.7.0', '1.1.0'],
  ['0.7.0', '2.0.0'],
])('servers of two releases may use one store but not %s and %s', (a, b) => {
  expect(areCompatible(a, b)).toBe(false);
  expect(areCompatible(b, a)).toBe(false);
});

it('releases are ordered by level, then by minor version as numbers', () => {
  const release = (version: string, level: number) => ({ version, level });
  const sorted = [release('0.1.0', 1), release('0.9.0', 1), release('0.10.0', 1), release('0.2.0', 2)];
  expect([...sorted].reverse().sort(compareReleases)).toEqual(sorted);
  expect(compareReleases(release('0.2.0', 1), release('0.2.5', 1))).toBe(0);
});

it('a version has a minor release, and one that follows', () => {
  expect(minorOf('0.10.3')).toBe('0.10');
  expect(minorOf('0.2')).toBe('0.2');
  expect(minorOf('latest')).toBeUndefined();
  expect(nextMinor('0.9.1')).toBe('0.10');
});
